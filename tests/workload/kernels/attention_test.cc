#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload::attention_test {
namespace {

using enum KernelConstant;

// 100 heads of 1280 x 1280 scores of size 64: 4 * 1280^2 * 64 * 100 FLOP, ten blocks of 128 rows a head.
Kernel attention(KernelFamily family = KernelFamily::kAttentionForward) {
  return {.family = family,
          .name = "attention",
          .m = 1280,
          .n = 1280,
          .k = 64,
          .batch = 100,
          .flops = Flops(4.0 * 1280 * 1280 * 64 * 100),
          .bytes = Bytes(4 * 1280 * 64 * 100 * 2)};
}

TEST(Attention, ManyBlocksRunAtTheShareOfPeak) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kAttentionForwardShare] = 0.5;
  gpu.kernels[kAttentionBackwardShare] = 0.25;
  const double at_peak = attention().flops.count() / 100e12;
  EXPECT_NEAR(attention_seconds(attention(), gpu), at_peak / 0.5, 1e-12);
  EXPECT_NEAR(attention_seconds(attention(KernelFamily::kAttentionBackward), gpu), at_peak / 0.25, 1e-12);
}

TEST(Attention, EveryScoreCostsAnExponential) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kAttentionScoreCost] = 256.0;  // as much as its GEMMs, 4 * 64 FLOP
  EXPECT_NEAR(attention_seconds(attention(), gpu), 2.0 * attention().flops.count() / 100e12, 1e-12);
}

TEST(Attention, TheTailWeighsOnFewBlocks) {
  GpuSpec gpu = plain_gpu();
  const double even = attention_seconds(attention(), gpu);  // 1000 blocks: ten waves
  gpu.kernels[kAttentionTail] = 1.0;
  EXPECT_NEAR(attention_seconds(attention(), gpu), 1.1 * even, 1e-12);
}

// Two heads of 1280 x 1280 scores: 20 blocks on 100 multiprocessors of 1 TFLOP/s. The mean block computes 128 x 1280
// scores; under a causal mask 10 blocks of 128 to 1280 keys, of which the longest has 20/11 of the mean's.
TEST(Attention, NoKernelIsShorterThanItsLongestBlock) {
  const GpuSpec gpu = plain_gpu();
  Kernel few = attention();
  few.batch = 2;
  few.flops = Flops(4.0 * 1280 * 1280 * 64 * 2);
  few.bytes = Bytes(0);
  const double block = 4.0 * 128 * 1280 * 64 / 1e12;
  EXPECT_NEAR(attention_seconds(few, gpu), block, 1e-12);
  few.mask = AttentionMask::kCausal;
  few.flops = few.flops / 2.0;
  EXPECT_NEAR(attention_seconds(few, gpu), block, 1e-12);
}

// 1000 blocks on 100 multiprocessors.
TEST(Attention, WhatABlockTakesToBeginMayNotBeHidden) {
  GpuSpec gpu = plain_gpu();
  const double before = attention_seconds(attention(), gpu);
  gpu.kernels[kAttentionStart] = 2e-6;
  EXPECT_DOUBLE_EQ(attention_seconds(attention(), gpu), before);
  gpu.kernels[kAttentionExposed] = 0.5;
  const double bytes = 2.0 * 1280 * 64 * 100 * 2;  // queries and result
  const double exposed = 0.5 * (10 * 2e-6 + bytes / 1e12);
  EXPECT_NEAR(attention_seconds(attention(), gpu), before + exposed, 1e-12);
  gpu.kernels[kAttentionTail] = 1.0;
  EXPECT_NEAR(attention_seconds(attention(), gpu), 1.1 * (before + exposed), 1e-12);
}

TEST(Attention, ForwardQueriesAndResultMayNotBeHidden) {
  GpuSpec gpu = plain_gpu();
  const double before = attention_seconds(attention(), gpu);
  gpu.kernels[kAttentionExposed] = 0.5;
  gpu.kernels[kAttentionStart] = 0.0;
  // Two tensors of 1280 x 64 x 100 in bf16 at 1000 GB/s, half of it.
  EXPECT_NEAR(attention_seconds(attention(), gpu), before + 0.5 * 2 * 1280 * 64 * 100 * 2 / 1e12, 1e-12);
}

TEST(Attention, BackwardMovesMoreThatMayNotBeHidden) {
  GpuSpec gpu = plain_gpu();
  const Kernel backward = attention(KernelFamily::kAttentionBackward);
  const double before = attention_seconds(backward, gpu);
  gpu.kernels[kAttentionExposed] = 1.0;
  gpu.kernels[kAttentionStart] = 0.0;
  // Keys, values, two gradients; result, its gradient; the fp32 sum twice, and its result: 22 bytes an element.
  EXPECT_NEAR(attention_seconds(backward, gpu), before + 22.0 * 1280 * 64 * 100 / 1e12, 1e-12);
}

TEST(Attention, ACausalMaskComputesBlocksOnTheDiagonalWhole) {
  const GpuSpec gpu = plain_gpu();
  Kernel causal = attention();
  causal.mask = AttentionMask::kCausal;
  causal.flops = causal.flops / 2.0;
  // Half of the scores, and half a block of 128 in each of 1280 rows: a tenth more.
  EXPECT_NEAR(attention_seconds(causal, gpu), 0.55 * attention_seconds(attention(), gpu), 1e-12);
}

// A window of 128 of 1280 tokens: 128 (1 - 0.5 * 0.1) = 121.6 scores of a row, and the block's 128 rows more.
TEST(Attention, AWindowLeavesEachBlockTheKeysOfItsRowsAndOfTheWindow) {
  const GpuSpec gpu = plain_gpu();
  Kernel windowed = attention();
  windowed.mask = AttentionMask::kCausal;
  windowed.window = 128;
  windowed.flops = Flops(4.0 * 1280 * 121.6 * 64 * 100);
  EXPECT_NEAR(attention_seconds(windowed, gpu), 4.0 * 1280 * 249.6 * 64 * 100 / 100e12, 1e-12);
}

TEST(Attention, ScoresOfTheBackwardPassHaveACostOfTheirOwn) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kAttentionScoreCost] = 64.0;
  const double before = attention_seconds(attention(), gpu);
  gpu.kernels[kAttentionBackwardScores] = 4.0;
  EXPECT_DOUBLE_EQ(attention_seconds(attention(), gpu), before);
  // 1280 x 1280 x 100 scores of 256 FLOPs.
  const Kernel backward = attention(KernelFamily::kAttentionBackward);
  EXPECT_NEAR(attention_seconds(backward, gpu), (backward.flops.count() + 1280.0 * 1280 * 100 * 256) / 100e12, 1e-12);
}

GpuSpec gpu_with_fp8() {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp8)] = FlopRate(200e12);
  gpu.kernels[kAttentionNarrowScores] = 100.0;
  return gpu;
}

TEST(Attention, BackwardFp8HalvesItsGemmsAndScalesEveryScore) {
  Kernel backward = attention(KernelFamily::kAttentionBackward);
  backward.type = DataType::kFp8;
  EXPECT_NEAR(attention_seconds(backward, gpu_with_fp8()),
              (0.5 * backward.flops.count() + 1280.0 * 1280 * 100 * 100) / 100e12, 1e-12);
}

TEST(Attention, BackwardFp8ComputesTheKeysBeforeAWindow) {
  Kernel causal = attention(KernelFamily::kAttentionBackward);
  causal.type = DataType::kFp8;
  causal.mask = AttentionMask::kCausal;
  causal.flops = causal.flops / 2.0;
  Kernel windowed = causal;
  windowed.window = 128;
  windowed.flops = causal.flops * (121.6 / 640.0);
  EXPECT_NEAR(attention_seconds(windowed, gpu_with_fp8()), attention_seconds(causal, gpu_with_fp8()), 1e-12);
  windowed.type = DataType::kBf16;
  causal.type = DataType::kBf16;
  EXPECT_LT(attention_seconds(windowed, gpu_with_fp8()), 0.5 * attention_seconds(causal, gpu_with_fp8()));
}

TEST(Attention, WideHeadsSlowTheBackwardPassOnly) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kAttentionWideBackward] = 0.5;
  Kernel wide = attention(KernelFamily::kAttentionBackward);
  const double narrow_seconds = attention_seconds(wide, gpu);
  wide.k = 192;
  EXPECT_NEAR(attention_seconds(wide, gpu), 2.0 * narrow_seconds, 1e-12);
  wide.family = KernelFamily::kAttentionForward;
  EXPECT_NEAR(attention_seconds(wide, gpu), narrow_seconds, 1e-12);
}

TEST(Attention, ASingleQueryIsBoundByReadingKeys) {
  const GpuSpec gpu = plain_gpu();
  const Kernel decode{.family = KernelFamily::kAttentionForward,
                      .name = "attention",
                      .m = 1,
                      .n = 100'000,
                      .k = 128,
                      .batch = 800,
                      .flops = Flops(4.0 * 100'000 * 128 * 800),
                      .bytes = Bytes(40'960'000'000)};
  EXPECT_DOUBLE_EQ(attention_seconds(decode, gpu), 40.96e-3);
}

}  // namespace
}  // namespace ringwright::workload::attention_test
