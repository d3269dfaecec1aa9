#include "workload/gpu/gpu_share.h"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

namespace ringwright::workload::gpu_share_test {
namespace {

using namespace ringwright::literals;

GpuSpec hundred_sms() {
  GpuSpec gpu;
  gpu.peak.fill(1000_TFLOPS);
  gpu.memory_bandwidth = 4000_GBps;
  gpu.sms = 100;
  gpu.streaming_share = 0.5;
  gpu.loaded_latency = 2.5;
  return gpu;
}

TEST(GpuShare, ArithmeticShrinksWithTheMultiprocessors) {
  const GpuSpec left = GpuShare(hundred_sms(), {.sms = 20}, 1.0).of_kernel();
  EXPECT_EQ(left.sms, 80);
  EXPECT_DOUBLE_EQ(left.peak_of(DataType::kBf16).count(), 800e12);
  // 80 % of the multiprocessors still draw all of the memory's bandwidth.
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 4000e9);
}

TEST(GpuShare, FewMultiprocessorsCannotDrawAllOfTheMemory) {
  EXPECT_DOUBLE_EQ(GpuShare(hundred_sms(), {.sms = 75}, 1.0).of_kernel().memory_bandwidth.count(), 2000e9);
}

TEST(GpuShare, MemoryIsWhatCommunicationTakesWhileLoadsAreSlow) {
  EXPECT_DOUBLE_EQ(GpuShare(hundred_sms(), {.sms = 20, .memory = 500_GBps}, 1.0).of_kernel().memory_bandwidth.count(),
                   3800e9);
}

TEST(GpuShare, MultiprocessorsThatCommunicationHoldsAreKnown) {
  EXPECT_EQ(GpuShare(hundred_sms(), {.sms = 20}, 1.0).of_kernel().held_sms, 20);
  // A process with half of the GPU never had the others.
  const GpuSpec half = GpuShare(hundred_sms(), {.sms = 20, .most_sms = 0.5}, 1.0).of_kernel();
  EXPECT_EQ(half.sms, 50);
  EXPECT_EQ(half.held_sms, 0);
}

TEST(GpuShare, NoDemandTakesMoreThanTheShareOfItsMultiprocessors) {
  // Twenty multiprocessors with unlimited demand leave the other eighty their four fifths.
  EXPECT_DOUBLE_EQ(GpuShare(hundred_sms(), {.sms = 20, .memory = 9000_GBps}, 1.0).of_kernel().memory_bandwidth.count(),
                   3200e9);
}

TEST(GpuShare, OneMultiprocessorIsAlwaysLeft) {
  EXPECT_EQ(GpuShare(hundred_sms(), {.sms = 500}, 1.0).of_kernel().sms, 1);
}

TEST(GpuShare, NothingTakenLeavesTheWholeGpu) {
  const GpuSpec left = GpuShare(hundred_sms(), {}, 1.0).of_kernel();
  EXPECT_EQ(left.sms, 100);
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 4000e9);
}

TEST(GpuShare, CopyEnginesTakeMemoryButNoMultiprocessors) {
  const GpuSpec left = GpuShare(hundred_sms(), {.copies = 40_GBps}, 1.0).of_kernel();
  EXPECT_EQ(left.sms, 100);
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 3960e9);
}

TEST(GpuShare, BandwidthBeyondStreamsIsUnused) {
  // Streams reach 3200 of 4000 GB/s; 2000 at 2.5 times the latency are a quarter of these.
  const GpuSpec left = GpuShare(hundred_sms(), {.sms = 40, .memory = 2000_GBps}, 0.8).of_kernel();
  EXPECT_DOUBLE_EQ(left.memory_bandwidth.count(), 3000e9);
}

Kernel kernel_of(double bytes) {
  return {.family = KernelFamily::kCopy, .bytes = Bytes(static_cast<std::int64_t>(bytes))};
}

TEST(GpuShare, ThreadBlocksWaitLongerForTheirLoadsWhileAKernelDrawsMemory) {
  const GpuSpec gpu = hundred_sms();
  const GpuShare share(gpu, {.sms = 20, .memory = 550_GBps}, 1.0);
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(0.0), from_seconds(1.0)).count(), 550e9);
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(2e12), from_seconds(1.0)).count(), 550e9 / 1.75);
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(4e12), from_seconds(1.0)).count(), 550e9 / 2.5);
}

TEST(GpuShare, ThreadBlocksGetNoMoreThanTheKernelLeaves) {
  const GpuSpec gpu = hundred_sms();
  const GpuShare share(gpu, {.sms = 20, .memory = 3000_GBps}, 1.0);
  // 3 TB in a second leave 1 TB/s, less than 3000 / 2.125; 3.9 TB would leave less than the fifth that twenty
  // multiprocessors may have.
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(3e12), from_seconds(1.0)).count(), 1000e9);
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(3.9e12), from_seconds(1.0)).count(), 800e9);
}

TEST(GpuShare, WhoAsksForNoMemoryGetsNoneAndTakesNone) {
  const GpuSpec gpu = hundred_sms();
  const GpuShare share(gpu, {.sms = 20}, 1.0);
  EXPECT_DOUBLE_EQ(share.of_kernel().memory_bandwidth.count(), 4000e9);
  EXPECT_DOUBLE_EQ(share.of_blocks(kernel_of(3e12), from_seconds(1.0)).count(), 0.0);
}

// A stream that uses its full share, or demands less.
class Sides : public testing::TestWithParam<std::tuple<int, double, double, double>> {};

TEST_P(Sides, NeitherGainsAndMemoryIsGivenOutOnce) {
  const auto [sms, blocks_ask, kernel_asks, reached] = GetParam();
  const GpuSpec gpu = hundred_sms();
  const double memory = gpu.memory_bandwidth.count() * reached;
  const GpuShare share(gpu, {.sms = sms, .memory = Bandwidth(blocks_ask)}, reached);
  const double kernel = std::min(kernel_asks, share.of_kernel().memory_bandwidth.count() * reached);
  const double blocks = share.of_blocks(kernel_of(kernel), from_seconds(1.0)).count();
  EXPECT_LE(kernel, kernel_asks);
  EXPECT_LE(blocks, blocks_ask);
  EXPECT_GT(blocks, 0.0);
  EXPECT_LE(kernel + blocks, memory + 1e3);
  // A kernel that draws less than is left has what it asks for.
  EXPECT_GE(kernel, std::min(kernel_asks, memory * (1.0 - std::max(sms, 1) / 100.0)) - 1e3);
  EXPECT_GE(blocks, std::min(blocks_ask / gpu.loaded_latency, memory * std::max(sms, 1) / 100.0) - 1e3);
}

INSTANTIATE_TEST_SUITE_P(GpuShare, Sides,
                         testing::Combine(testing::Values(0, 1, 8, 32, 50), testing::Values(1e9, 400e9, 2000e9, 6000e9),
                                          testing::Values(1e9, 1500e9, 3900e9, 9000e9), testing::Values(0.8, 1.0)));

}  // namespace
}  // namespace ringwright::workload::gpu_share_test
