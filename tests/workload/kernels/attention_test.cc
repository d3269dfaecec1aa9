#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload {
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
  gpu.kernels[kAttentionScoreCost] = 256.0;  // as much as its products, 4 * 64 FLOP
  EXPECT_NEAR(attention_seconds(attention(), gpu), 2.0 * attention().flops.count() / 100e12, 1e-12);
}

TEST(Attention, TheTailWeighsOnFewBlocks) {
  GpuSpec gpu = plain_gpu();
  const double even = attention_seconds(attention(), gpu);  // 1000 blocks: ten waves
  gpu.kernels[kAttentionTail] = 1.0;
  EXPECT_NEAR(attention_seconds(attention(), gpu), 1.1 * even, 1e-12);
}

TEST(Attention, ACausalMaskComputesBlocksOnTheDiagonalWhole) {
  const GpuSpec gpu = plain_gpu();
  Kernel causal = attention();
  causal.mask = AttentionMask::kCausal;
  causal.flops = causal.flops / 2.0;
  // Half of the scores, and half a block of 128 in each of 1280 rows: a tenth more.
  EXPECT_NEAR(attention_seconds(causal, gpu), 0.55 * attention_seconds(attention(), gpu), 1e-12);
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
}  // namespace ringwright::workload
