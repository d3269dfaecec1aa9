#include "planning/jobs/use_over_time.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::use_over_time_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Intervals begin with a minute: 30 s of 4 GPUs and 30 of 8 are 6, then 30 s of 8.
TEST(UseOverTime, HasTheMeansOfEachInterval) {
  UseOverTime use;
  use.add({.from = 0, .to = 30, .gpus = 4, .waiting = 2});
  use.add({.from = 30, .to = 90, .gpus = 8, .waiting = 0});
  EXPECT_EQ(use.interval(), 60);
  EXPECT_THAT(use.gpus(), ElementsAre(6, 8));
  EXPECT_THAT(use.waiting(), ElementsAre(1, 0));
}

// 1,000 h in minutes would be 60,000: intervals double until there are at most 256. What was used stays the same.
TEST(UseOverTime, JoinsIntervalsOfALongRunWithoutLoss) {
  UseOverTime use;
  double gpu_seconds = 0.0;
  for (int hour = 0; hour < 1000; ++hour) {
    use.add({.from = hour * 3600.0, .to = (hour + 1) * 3600.0, .gpus = hour % 7 * 1.0, .waiting = 1});
    gpu_seconds += 3600.0 * (hour % 7);
  }
  const std::vector<double> gpus = use.gpus();
  EXPECT_GT(gpus.size(), kMostUseIntervals / 2);
  EXPECT_LE(gpus.size(), kMostUseIntervals);
  double sum = 0.0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const double begin = static_cast<double>(i) * use.interval();
    sum += gpus[i] * (std::min(begin + use.interval(), 3'600'000.0) - begin);
  }
  EXPECT_NEAR(sum, gpu_seconds, 1e-6 * gpu_seconds);
  EXPECT_THAT(use.waiting(), ::testing::Each(DoubleNear(1.0, 1e-9)));
}

TEST(UseOverTime, IsEmptyWithoutTime) {
  UseOverTime use;
  use.add({.from = 0, .to = 0, .gpus = 4, .waiting = 2});
  EXPECT_TRUE(use.gpus().empty());
}

}  // namespace
}  // namespace ringwright::planning::use_over_time_test
