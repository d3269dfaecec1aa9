#include "workload/kernels/serial_kernels.h"

#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload::serial_kernels_test {
namespace {

constexpr double kLatency = 478.8 / 1755e6;

// States of 128 x 128 over 64 chunks of 64 tokens: two products each, without bytes of a block's own.
Kernel scan(std::int64_t batch) {
  Kernel kernel = product({.m = 128, .n = 128, .k = 2 * 64 * 64, .batch = batch});
  kernel.serial_steps = 64;
  kernel.bytes = Bytes(0);
  return kernel;
}

// Ample bandwidth: a block of 32 columns needs 2 * 128 * 128 * 32 FLOPs of one multiprocessor for each step.
TEST(SerialKernels, ABlockTakesItsStepsOneAfterAnother) {
  const BlockRates rates{.flops = 1e12, .bytes = 1e15};
  const double step = 2.0 * 128 * 128 * 32 / 1e12 + kLatency;
  EXPECT_NEAR(serial_seconds(scan(1), 100, rates), 64 * step, 1e-12);
  // Four blocks for each of 25: as many as multiprocessors.
  EXPECT_NEAR(serial_seconds(scan(25), 100, rates), 64 * step, 1e-12);
}

// Four blocks of each of 50 would be two on every multiprocessor; two of 64 columns are one.
TEST(SerialKernels, TheFasterOfBothWidthsIsTaken) {
  const BlockRates rates{.flops = 1e12, .bytes = 1e15};
  const double narrow = 2.0 * 128 * 128 * 32 / 1e12;
  EXPECT_NEAR(serial_seconds(scan(50), 100, rates), 64 * std::max(narrow + kLatency, 2 * narrow), 1e-12);
}

// Two blocks hide each other's latency; more are further rounds.
TEST(SerialKernels, ManyBlocksTakeAsLongAsTheirWork) {
  const BlockRates rates{.flops = 1e12, .bytes = 1e15};
  const double all = static_cast<double>(scan(1000).flops.count()) / (100 * 1e12);
  EXPECT_NEAR(serial_seconds(scan(1000), 100, rates) / all, 1.0, 1e-9);
}

// All blocks of a batch element read its keys: m x k values of two bytes; the rest is split by columns.
TEST(SerialKernels, BlocksDrawWhatOneMultiprocessorCan) {
  Kernel kernel = scan(1);
  const double shared = 128.0 * 2 * 64 * 64 * 2;
  kernel.bytes = Bytes(static_cast<std::int64_t>(shared) + 4'000'000);
  const double moved = (shared + 1e6) / 1e9;
  EXPECT_NEAR(serial_seconds(kernel, 100, {.flops = 1e15, .bytes = 1e9}), moved + 64 * kLatency, 1e-9);
}

TEST(SerialKernels, AGemmInStepsIsNoFasterThanItsBytes) {
  Kernel kernel = scan(1);
  kernel.bytes = Bytes(1'000'000'000);
  EXPECT_GE(kernel_seconds(kernel, plain_gpu()), 1e-3);
}

// The same arithmetic without a chain fills the GPU.
TEST(SerialKernels, StepsAreSlowerThanAGemmOfTheirWork) {
  Kernel whole = scan(1);
  const double chained = kernel_seconds(whole, plain_gpu());
  whole.serial_steps = 0;
  EXPECT_GT(chained, 2.0 * kernel_seconds(whole, plain_gpu()));
  EXPECT_GE(chained, 64 * kLatency);
}

TEST(SerialKernels, StreamsWaitForMemoryInEachStep) {
  Kernel kernel{.family = KernelFamily::kElementwise, .name = "state passing", .bytes = Bytes(1000)};
  const double alone = kernel_seconds(kernel, plain_gpu());
  kernel.serial_steps = 100;
  EXPECT_LT(alone, 100 * kLatency);
  EXPECT_NEAR(kernel_seconds(kernel, plain_gpu()), 100 * kLatency, 1e-12);
}

}  // namespace
}  // namespace ringwright::workload::serial_kernels_test
