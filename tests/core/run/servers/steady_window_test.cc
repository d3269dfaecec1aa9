#include "core/run/servers/steady_window.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::steady_window_test {
namespace {

// Steps of the slowest worker until the last window is over, where windows have these speeds.
std::uint64_t steps_until_last(SteadyWindow window, const std::vector<double>& speeds) {
  std::uint64_t steps = 0;
  for (std::size_t next = 0; next <= speeds.size();) {
    if (!window.is_over(++steps)) continue;
    if (window.counts() && window.is_last(speeds[next++])) return steps;
    window.begin_next();
  }
  return 0;
}

TEST(SteadyWindow, TheFirstIsTheLastWhereItsLengthIsGiven) {
  EXPECT_EQ(steps_until_last(SteadyWindow({.warmup = 2, .first = 3}, CountUntil::kGiven), {1.0}), 5U);
}

TEST(SteadyWindow, EqualStepsNeedOneMoreWindow) {
  EXPECT_EQ(steps_until_last(SteadyWindow({.warmup = 1, .first = 1}, CountUntil::kSteady), {7.0, 7.0}), 1U + 1 + 2);
}

// Within 1 % from the window of 16 steps on, after those of 1, 2, 4 and 8.
TEST(SteadyWindow, ShortOnesThatAreNearlyEqualAreNotTheLast) {
  EXPECT_EQ(
      steps_until_last(SteadyWindow({.warmup = 1, .first = 1}, CountUntil::kSteady), {1.0, 1.005, 1.002, 1.001, 1.004}),
      1U + 1 + 2 + 4 + 8 + 16);
}

TEST(SteadyWindow, SpeedsThatDriftAreNotThoseInTheEnd) {
  EXPECT_EQ(steps_until_last(SteadyWindow({.warmup = 1, .first = 16}, CountUntil::kSteady), {1.0, 1.1, 1.2, 1.205}),
            1U + 16 + 32 + 64 + 128);
}

TEST(SteadyWindow, ThoseThatNeverSettleEnd) {
  EXPECT_EQ(steps_until_last(SteadyWindow({.warmup = 1, .first = 500}, CountUntil::kSteady), {1.0, 2.0, 3.0}),
            1U + 500 + 1000);
}

}  // namespace
}  // namespace ringwright::steady_window_test
