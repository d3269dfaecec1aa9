#include "network_models/solver/probed_table.h"

#include <map>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::probed_table_test {
namespace {

TEST(ProbedTable, FindsWhatWasAddedAndNothingElse) {
  ProbedTable<Duration> table;
  table.add(Duration(7), 3);
  EXPECT_EQ(table.find(Duration(7)), 3U);
  EXPECT_EQ(table.find(Duration(8)), ProbedTable<Duration>::kNone);
  table.remove(Duration(7), 3);
  EXPECT_EQ(table.find(Duration(7)), ProbedTable<Duration>::kNone);
  EXPECT_EQ(table.size(), 0U);
}

// Removal must not cut the chains of neighbours that were displaced by the removed entry.
TEST(ProbedTable, AgreesWithAMapThroughAddingAndRemoving) {
  RandomStream random(11, "table");
  ProbedTable<Duration> table;
  std::map<Duration, std::uint32_t> twin;
  for (std::uint32_t step = 0; step < 50'000; ++step) {
    // Few, evenly spaced keys: like times of lock-step traffic, with many collisions.
    const Duration key(static_cast<std::int64_t>(random.next_below(400) * 4096));
    const auto known = twin.find(key);
    ASSERT_EQ(table.find(key), known == twin.end() ? ProbedTable<Duration>::kNone : known->second);
    if (known != twin.end()) {
      table.remove(key, known->second);
      twin.erase(known);
    } else {
      table.add(key, step);
      twin[key] = step;
    }
    ASSERT_EQ(table.size(), twin.size());
  }
  for (const auto& [key, value] : twin) EXPECT_EQ(table.find(key), value);
}

TEST(ProbedTable, HasSeveralValuesOfOneHash) {
  ProbedTable<std::uint32_t> index;
  for (std::uint32_t path = 0; path < 5; ++path) index.add(7, path);
  EXPECT_EQ(index.find(7, [](std::uint32_t path) { return path == 3; }), 3U);
  index.remove(7, 3);
  EXPECT_EQ(index.find(7, [](std::uint32_t path) { return path == 3; }), ProbedTable<std::uint32_t>::kNone);
  EXPECT_EQ(index.find(7, [](std::uint32_t path) { return path == 4; }), 4U);
}

// Few hashes, at both ends of the table: chains meet, and wrap around.
TEST(ProbedTable, AgreesWithAMapOfValuesOverRandomChanges) {
  for (const std::uint64_t hashes : {4U, 40U, 100'000U}) {
    RandomStream random(hashes, "values");
    ProbedTable<std::uint32_t> index;
    std::map<std::uint32_t, std::uint32_t> hash_of;  // by path
    for (int change = 0; change < 20'000; ++change) {
      const auto path = static_cast<std::uint32_t>(random.next_below(500));
      if (const auto known = hash_of.find(path); known != hash_of.end()) {
        index.remove(known->second, path);
        hash_of.erase(known);
      } else {
        const auto hash = static_cast<std::uint32_t>(0U - random.next_below(hashes));
        index.add(hash, path);
        hash_of.emplace(path, hash);
      }
      const auto asked = static_cast<std::uint32_t>(random.next_below(500));
      const auto is_asked = [asked](std::uint32_t one) { return one == asked; };
      const auto known = hash_of.find(asked);
      const auto found = index.find(known == hash_of.end() ? 0 : known->second, is_asked);
      ASSERT_EQ(found, known == hash_of.end() ? ProbedTable<std::uint32_t>::kNone : asked);
    }
  }
}

}  // namespace
}  // namespace ringwright::network_models::probed_table_test
