#include "network_models/solver/path_index.h"

#include <map>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::path_index_test {
namespace {

constexpr auto kAny = [](std::uint32_t /*path*/) { return true; };

TEST(PathIndex, IsEmptyAtFirst) {
  const PathIndex index;
  EXPECT_FALSE(index.find(7, kAny));
}

TEST(PathIndex, TellsPathsOfOneHashApart) {
  PathIndex index;
  for (std::uint32_t path = 0; path < 5; ++path) index.add(7, path);
  EXPECT_EQ(index.find(7, [](std::uint32_t path) { return path == 3; }), 3U);
  index.remove(7, 3);
  EXPECT_FALSE(index.find(7, [](std::uint32_t path) { return path == 3; }));
  EXPECT_EQ(index.find(7, [](std::uint32_t path) { return path == 4; }), 4U);
}

// Few hashes, at both ends of the table: chains meet, and wrap around.
TEST(PathIndex, AgreesWithAMapOverRandomChanges) {
  for (const std::uint64_t hashes : {4U, 40U, 100'000U}) {
    RandomStream random(hashes, "path_index_test");
    PathIndex index;
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
      ASSERT_EQ(found.has_value(), known != hash_of.end());
    }
  }
}

}  // namespace
}  // namespace ringwright::network_models::path_index_test
