#include "network_models/solver/level_queue.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::level_queue_test {
namespace {

TEST(LevelQueue, HandsOutTheLowestFirst) {
  LevelQueue queue;
  queue.lower(3, 30.0);
  queue.lower(1, 10.0);
  queue.lower(2, 20.0);
  EXPECT_EQ(queue.first(), 1U);
  queue.remove_first();
  EXPECT_EQ(queue.first(), 2U);
  EXPECT_EQ(queue.lowest(), 20.0);
}

TEST(LevelQueue, OnlyBringsForwardWhatIsQueued) {
  LevelQueue queue;
  queue.lower(0, 10.0);
  queue.lower(1, 20.0);
  queue.lower(1, 30.0);
  queue.lower(1, 5.0);
  EXPECT_EQ(queue.first(), 1U);
  queue.raise_first(15.0);
  EXPECT_EQ(queue.first(), 0U);
  queue.remove_first();
  EXPECT_EQ(queue.lowest(), 15.0);
  queue.remove_first();
  EXPECT_TRUE(queue.empty());
}

TEST(LevelQueue, AgreesWithAMapThroughRandomChanges) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "levels");
    LevelQueue queue;
    std::map<std::uint32_t, double> levels;
    for (int change = 0; change < 2000; ++change) {
      const std::uint64_t what = random.next_below(4);
      if (what < 2 || queue.empty()) {
        const auto item = static_cast<std::uint32_t>(random.next_below(60));
        const auto level = static_cast<double>(random.next_below(1000));
        queue.lower(item, level);
        const auto [place, is_new] = levels.emplace(item, level);
        if (!is_new) place->second = std::min(place->second, level);
      } else if (what == 2) {
        const double level = queue.lowest() + static_cast<double>(random.next_below(300));
        levels[queue.first()] = level;
        queue.raise_first(level);
      } else {
        levels.erase(queue.first());
        queue.remove_first();
      }
      ASSERT_EQ(queue.empty(), levels.empty());
      if (queue.empty()) continue;
      const auto least = std::ranges::min_element(levels, {}, [](const auto& entry) { return entry.second; });
      ASSERT_EQ(queue.lowest(), least->second) << "seed " << seed << ", change " << change;
      ASSERT_EQ(levels.at(queue.first()), least->second);
    }
  }
}

}  // namespace
}  // namespace ringwright::network_models::level_queue_test
