#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload::stream_test {
namespace {

using enum KernelConstant;

Kernel moving(std::int64_t bytes, KernelFamily family = KernelFamily::kCopy) {
  return {.family = family, .name = "copy", .bytes = Bytes(bytes)};
}

TEST(Stream, LargeKernelsMoveAtTheShareOfBandwidth) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamShare] = 0.8;
  EXPECT_DOUBLE_EQ(stream_seconds(moving(800'000'000), gpu), 1e-3);
}

TEST(Stream, WhatFitsTheCacheMovesAtItsSpeed) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamCacheSpeed] = 4.0;
  gpu.kernels[kStreamCacheShare] = 0.5;
  EXPECT_DOUBLE_EQ(stream_seconds(moving(4'000'000), gpu), 1e-6);
  // 7.5 MB is midway between half of the cache and all of it: half of the bytes come from memory.
  EXPECT_DOUBLE_EQ(stream_seconds(moving(7'500'000), gpu), 7.5e-6 * (0.5 / 4.0 + 0.5));
  EXPECT_DOUBLE_EQ(stream_seconds(moving(10'000'000), gpu), 10e-6);
}

TEST(Stream, BytesOfMemoryComeAfterItsLatency) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamCacheShare] = 0.5;
  gpu.kernels[kStreamStart] = 2e-6;
  EXPECT_DOUBLE_EQ(stream_seconds(moving(4'000'000), gpu), 4e-6);  // in the cache
  EXPECT_DOUBLE_EQ(stream_seconds(moving(10'000'000), gpu), 12e-6);
}

TEST(Stream, EveryFamilyHasItsSpeedAgainstACopy) {
  const struct {
    KernelFamily family;
    KernelConstant speed;
  } families[] = {{KernelFamily::kNorm, kStreamNorm},           {KernelFamily::kElementwise, kStreamElementwise},
                  {KernelFamily::kSoftmax, kStreamSoftmax},     {KernelFamily::kEmbedding, kStreamEmbedding},
                  {KernelFamily::kOptimizer, kStreamOptimizer}, {KernelFamily::kCast, kStreamCast}};
  for (const auto& [family, speed] : families) {
    GpuSpec gpu = plain_gpu();
    gpu.kernels[speed] = 0.5;
    EXPECT_DOUBLE_EQ(stream_seconds(moving(500'000'000, family), gpu), 1e-3) << to_string(family);
    EXPECT_DOUBLE_EQ(stream_seconds(moving(500'000'000), gpu), 0.5e-3) << to_string(family);
  }
}

// Their bytes are those of a stream that takes as long: recommendation.gather_efficiency is relative to a copy.
TEST(Stream, LookupsAtRandomMoveAsACopyOfTheirBytes) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamEmbedding] = 0.5;
  Kernel lookup = moving(500'000'000, KernelFamily::kEmbedding);
  lookup.m = 1'000'000'000;
  EXPECT_DOUBLE_EQ(stream_seconds(lookup, gpu), 0.5e-3);
}

}  // namespace
}  // namespace ringwright::workload::stream_test
