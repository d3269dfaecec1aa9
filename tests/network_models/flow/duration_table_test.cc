#include "network_models/flow/duration_table.h"

#include <map>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::duration_table_test {
namespace {

TEST(DurationTable, FindsWhatWasAddedAndNothingElse) {
  DurationTable table;
  table.add(Duration(7), 3);
  EXPECT_EQ(table.find(Duration(7)), 3U);
  EXPECT_EQ(table.find(Duration(8)), DurationTable::kNone);
  table.remove(Duration(7));
  EXPECT_EQ(table.find(Duration(7)), DurationTable::kNone);
  EXPECT_EQ(table.size(), 0U);
}

// Removal must not cut the chains of neighbours that were displaced by the removed entry.
TEST(DurationTable, AgreesWithAMapThroughAddingAndRemoving) {
  RandomStream random(11, "table");
  DurationTable table;
  std::map<Duration, std::uint32_t> twin;
  for (std::uint32_t step = 0; step < 50'000; ++step) {
    // Few, evenly spaced keys: like times of lock-step traffic, with many collisions.
    const Duration key(static_cast<std::int64_t>(random.next_below(400) * 4096));
    const auto known = twin.find(key);
    ASSERT_EQ(table.find(key), known == twin.end() ? DurationTable::kNone : known->second);
    if (known != twin.end()) {
      table.remove(key);
      twin.erase(known);
    } else {
      table.add(key, step);
      twin[key] = step;
    }
    ASSERT_EQ(table.size(), twin.size());
  }
  for (const auto& [key, value] : twin) EXPECT_EQ(table.find(key), value);
}

}  // namespace
}  // namespace ringwright::network_models::duration_table_test
