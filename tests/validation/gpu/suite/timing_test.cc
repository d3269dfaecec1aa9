// Timing on a device whose launches all take 10 us.
#include "timing.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "launch.cuh"

namespace ringwright::gpu::timing_test {
namespace {

void nothing() {}

TEST(Timing, MedianOfAKernelInAGraphIsItsTime) {
  emulation::fresh_device();
  int most_turn = 0;
  const Timing timing = time_launches([&](cudaStream_t stream, int turn) {
    most_turn = std::max(most_turn, turn);
    enqueue(nothing, {1, 32}, stream);
  });
  EXPECT_NEAR(timing.median_us, 10.0, 1e-3);  // elapsed times are floats
  EXPECT_NEAR(timing.ci_high_us - timing.ci_low_us, 0.0, 1e-3);
  EXPECT_EQ(timing.samples, 11);
  EXPECT_EQ(most_turn,
            32);  // 400 us at 12 us each, of which the host takes 2: 33 launches, each with its own index
  EXPECT_EQ(emulation::left_behind(), "");
}

TEST(Timing, AnEmptyStreamIsPacedByTheHost) {
  emulation::fresh_device().launch_us = 0.5;  // a launch takes 2 us of the host
  const Timing timing = time_launches(
      [](cudaStream_t stream, int) {
        enqueue(nothing, {1, 32}, stream);
      },
      {.mode = LaunchMode::kEager});
  EXPECT_NEAR(timing.median_us, 2.0, 0.1);
}

// Ranks of the interval of 25 samples: 12.5 -+ 0.98 sqrt(25) = 7.6 and 17.4, outwards 7 and 18, from 0.
TEST(Timing, IntervalIsThatOfOrderStatistics) {
  std::vector<double> samples;
  for (int i = 24; i >= 0; --i) samples.push_back(i);
  const Timing timing = summarise(samples.data(), 25);
  EXPECT_DOUBLE_EQ(timing.median_us, 12.0);
  EXPECT_DOUBLE_EQ(timing.ci_low_us, 7.0);
  EXPECT_DOUBLE_EQ(timing.ci_high_us, 18.0);
}

TEST(Launch, WhatTheDeviceRefusesEndsTheRun) {
  emulation::fresh_device();
  EXPECT_EXIT(enqueue(nothing, {1, 2048}, nullptr), testing::ExitedWithCode(1),
              "a kernel's launch: invalid configuration");
  EXPECT_EXIT(enqueue(nothing, {0, 32}, nullptr), testing::ExitedWithCode(1), "invalid configuration");
  EXPECT_EXIT(enqueue(nothing, {.blocks = 133, .threads = 32, .cooperative = true}, nullptr),
              testing::ExitedWithCode(1), "too many blocks in cooperative launch");
}

}  // namespace
}  // namespace ringwright::gpu::timing_test
