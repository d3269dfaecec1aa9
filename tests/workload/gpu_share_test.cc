#include "workload/gpu_share.h"

#include <gtest/gtest.h>

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

GpuSpec hundred_sms() {
  GpuSpec gpu;
  gpu.peak.fill(1000_TFLOPS);
  gpu.memory_bandwidth = 4000_GBps;
  gpu.sms = 100;
  gpu.streaming_share = 0.5;
  return gpu;
}

TEST(GpuShare, ArithmeticShrinksWithTheMultiprocessors) {
  const GpuSpec left = what_is_left(hundred_sms(), {.sms = 20});
  EXPECT_EQ(left.sms, 80);
  EXPECT_DOUBLE_EQ(left.peak_of(DataType::kBf16).count(), 800e12);
  // 80 % of the multiprocessors still draw all of the memory's bandwidth.
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 4000e9);
}

TEST(GpuShare, FewMultiprocessorsCannotDrawAllOfTheMemory) {
  EXPECT_DOUBLE_EQ(what_is_left(hundred_sms(), {.sms = 75}).memory_bandwidth.count(), 2000e9);
}

TEST(GpuShare, MemoryIsWhatCommunicationDoesNotTake) {
  EXPECT_DOUBLE_EQ(what_is_left(hundred_sms(), {.sms = 20, .memory = 500_GBps}).memory_bandwidth.count(), 3500e9);
}

TEST(GpuShare, MemoryServesRequestsAsTheyCome) {
  // Twenty multiprocessors that ask for everything do not keep the other eighty from their four fifths.
  EXPECT_DOUBLE_EQ(what_is_left(hundred_sms(), {.sms = 20, .memory = 9000_GBps}).memory_bandwidth.count(), 3200e9);
}

TEST(GpuShare, OneMultiprocessorIsAlwaysLeft) { EXPECT_EQ(what_is_left(hundred_sms(), {.sms = 500}).sms, 1); }

TEST(GpuShare, NothingTakenLeavesTheWholeGpu) {
  const GpuSpec left = what_is_left(hundred_sms(), {});
  EXPECT_EQ(left.sms, 100);
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 4000e9);
}

}  // namespace
}  // namespace ringwright::workload
