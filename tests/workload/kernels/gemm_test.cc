#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload::gemm_test {
namespace {

using enum KernelConstant;

// 2560 x 2560 is 10 x 10 tiles of 256 x 256, one for each multiprocessor: 2 * 2560^2 * 1000 FLOP at 100 TFLOP/s.
constexpr Sizes kOneWave{.m = 2560, .n = 2560, .k = 1000};
constexpr double kOneWaveSeconds = 131.072e-6;

TEST(Gemm, OneFullWaveRunsAtTheShareOfPeak) {
  GpuSpec gpu = plain_gpu();
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds, 1e-12);
  gpu.kernels[kGemmHalfShare] = 0.8;
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds / 0.8, 1e-12);
}

TEST(Gemm, ARampLengthensEveryTileAlongK) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmRamp] = 250.0;  // a quarter of k
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), 1.25 * kOneWaveSeconds, 1e-12);
}

// fp8 at twice bf16's speed, its share 100 %.
GpuSpec gpu_with_fp8() {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp8)] = FlopRate(200e12);
  gpu.kernels[kGemmFp8Share] = 1.0;
  return gpu;
}
Kernel in_fp8(const Sizes& sizes) {
  Kernel kernel = product(sizes);
  kernel.type = DataType::kFp8;
  return kernel;
}

// The ramp of 250 takes a quarter of bf16's time along k = 1000; fp8 needs half of the time for k, and as long for the
// ramp.
TEST(Gemm, ARampTakesNarrowTypesAsLongAsWideOnes) {
  GpuSpec gpu = gpu_with_fp8();
  gpu.kernels[kGemmRamp] = 250.0;
  EXPECT_NEAR(gemm_seconds(in_fp8(kOneWave), gpu), (0.5 + 0.25) * kOneWaveSeconds, 1e-12);
}

// Nor is the latency longer for types that the multiprocessors compute more slowly.
TEST(Gemm, ARampTakesFp32AsLongAsBf16) {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp32)] = FlopRate(10e12);
  gpu.kernels[kGemmSingleShare] = 1.0;
  gpu.kernels[kGemmRamp] = 250.0;
  Kernel kernel = product(kOneWave);
  kernel.type = DataType::kFp32;
  EXPECT_NEAR(gemm_seconds(kernel, gpu), (10.0 + 0.25) * kOneWaveSeconds, 1e-12);
}

// Tiles of 256 x 64 load 1/256 + 1/64 values for each multiply-add, against 2/256 of
// the widest tile. bf16 pays for that in full, fp32 for a fifth: its loads have twice the bytes, and its arithmetic
// takes ten times as long meanwhile.
TEST(Gemm, LoadsWeighLessWhereArithmeticIsSlower) {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp32)] = FlopRate(10e12);
  gpu.kernels[kGemmSingleShare] = 1.0;
  gpu.kernels[kGemmTileLoad] = 256.0;
  const Sizes thin{.m = 25600, .n = 64, .k = 1000};  // one full wave
  Kernel half = product(thin);
  half.bytes = Bytes(0);
  Kernel single = half;
  single.type = DataType::kFp32;
  const double seconds = 2.0 * 256 * 64 * 1000 / 1e12;  // of a tile at the full rate of one multiprocessor
  EXPECT_NEAR(gemm_seconds(half, gpu), seconds * (1.0 + 1.0 + 4.0) / (1.0 + 2.0), 1e-12);
  EXPECT_NEAR(gemm_seconds(single, gpu), 10.0 * seconds * (1.0 + 0.2 * (1.0 + 4.0)) / (1.0 + 0.2 * 2.0), 1e-12);
}

TEST(Gemm, AStartIsPaidOnceWhateverTheWaves) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmStart] = 3e-6;
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds + 3e-6, 1e-12);
  Sizes eight = kOneWave;
  eight.m *= 8;
  EXPECT_NEAR(gemm_seconds(product(eight), gpu), 8 * kOneWaveSeconds + 3e-6, 1e-12);
}

TEST(Gemm, Fp4PaysForTheScalesOfItsBlocks) {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp4)] = FlopRate(400e12);
  gpu.kernels[kGemmFp4Share] = 1.0;
  gpu.kernels[kGemmStart] = 3e-6;
  gpu.kernels[kGemmFp4Start] = 4e-6;
  Kernel kernel = product(kOneWave);
  kernel.type = DataType::kFp4;
  EXPECT_NEAR(gemm_seconds(kernel, gpu), kOneWaveSeconds / 4 + 7e-6, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds + 3e-6, 1e-12);
}

// 640 x 640 is 100 tiles of 64 x 64, which fill the machine, and 25 of 128 x 128, which leave three quarters idle; too
// short along k to be split. Twice the speed, four times the share of the machine that is idle: twice as long.
TEST(Gemm, NarrowTypesHaveNoSmallTiles) {
  const GpuSpec gpu = gpu_with_fp8();
  const Sizes small{.m = 640, .n = 640, .k = 1000};
  EXPECT_NEAR(gemm_seconds(in_fp8(small), gpu), 2.0 * gemm_seconds(product(small), gpu), 1e-12);
}

TEST(Gemm, RoundedWavesMakeTheLastOneCostLikeAFullOne) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmTileLoad] = 128.0;  // small tiles do not pay
  Sizes more = kOneWave;
  more.m += 256;  // 110 tiles: 1.1 waves
  const double even = gemm_seconds(product(more), gpu);
  gpu.kernels[kGemmWaveRounding] = 1.0;
  EXPECT_GT(gemm_seconds(product(more), gpu), 1.5 * even);
  // A full wave has nothing to round.
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds, 1e-12);
}

TEST(Gemm, FewTilesAreSplitAlongK) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamCacheSpeed] = 20.0;
  // 1280 x 512 is 10 tiles of 256 x 256, a tenth of the machine; and 160 of 64 x 64. Splits fill it with larger ones.
  const Sizes deep{.m = 1280, .n = 512, .k = 100'000};
  gpu.kernels[kGemmTileLoad] = 128.0;
  const double share = product(deep).flops.count() / 100e12 / gemm_seconds(product(deep), gpu);
  EXPECT_GT(share, 0.5);
  const Sizes shallow{.m = 1280, .n = 512, .k = 1000};  // too short to be split
  EXPECT_LT(product(shallow).flops.count() / 100e12 / gemm_seconds(product(shallow), gpu), share);
}

TEST(Gemm, ThePowerLimitSlowsLongGemmsAndNotShortOnes) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmSustained] = 0.5;
  gpu.kernels[kGemmPowerTime] = kOneWaveSeconds;  // half of the loss at this length
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), 1.5 * kOneWaveSeconds, 1e-12);
  Sizes longer = kOneWave;
  longer.k *= 1000;
  EXPECT_NEAR(gemm_seconds(product(longer), gpu), 2000 * kOneWaveSeconds, 2 * kOneWaveSeconds);
}

TEST(Gemm, AGemmThatLeavesMultiprocessorsIdleDoesNotReachThePowerLimit) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmWaveRounding] = 1.0;
  gpu.kernels[kGemmTileLoad] = 128.0;
  const Sizes idle{.m = 256 * 51, .n = 512, .k = 500};  // 102 tiles: two waves of which the second is nearly empty
  const double free = gemm_seconds(product(idle), gpu);
  gpu.kernels[kGemmSustained] = 0.9;
  EXPECT_DOUBLE_EQ(gemm_seconds(product(idle), gpu), free);
}

TEST(Gemm, GradientsHaveSpeedsOfTheirOwn) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmDgradSpeed] = 0.8;
  gpu.kernels[kGemmWgradSpeed] = 0.5;
  Kernel kernel = product(kOneWave);
  kernel.role = GemmRole::kDgrad;
  EXPECT_NEAR(gemm_seconds(kernel, gpu), kOneWaveSeconds / 0.8, 1e-12);
  kernel.role = GemmRole::kWgrad;
  EXPECT_NEAR(gemm_seconds(kernel, gpu), kOneWaveSeconds / 0.5, 1e-12);
}

TEST(Gemm, AThinGemmIsBoundByMemory) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmMemoryShare] = 0.5;
  const Kernel thin = product({.m = 16, .n = 8192, .k = 8192});
  EXPECT_DOUBLE_EQ(gemm_seconds(thin, gpu), static_cast<double>(thin.bytes.count()) / 500e9);
}

// One wave computes for 131.072 us; its bytes take 23.3 us at 1000 GB/s: 2 * (2 * 2560 * 1000 + 2560^2) = 23.3 MB.
TEST(Gemm, WhatArithmeticDoesNotHideOfBytesIsAdded) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmExposed] = gpu.kernels[kGemmExposedResults] = 0.5;
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds + 0.5 * 23.3472e-6, 1e-12);
  // A gradient in fp32 that is added to moves 8 bytes for a result instead of 2.
  Kernel added = product(kOneWave);
  added.bytes += Bytes(6 * kOneWave.m * kOneWave.n);
  EXPECT_NEAR(gemm_seconds(added, gpu) - gemm_seconds(product(kOneWave), gpu), 0.5 * 39.3216e-6, 1e-12);
}

// 1 GB takes 1 ms, of the 131.072 us of arithmetic half is added to it.
TEST(Gemm, WhatBytesDoNotHideOfArithmeticIsAdded) {
  GpuSpec gpu = plain_gpu();
  Kernel heavy = product(kOneWave);
  heavy.bytes = Bytes(1'000'000'000);
  EXPECT_NEAR(gemm_seconds(heavy, gpu), 1e-3, 1e-12);
  gpu.kernels[kGemmExposed] = gpu.kernels[kGemmExposedResults] = 0.5;
  EXPECT_NEAR(gemm_seconds(heavy, gpu), 1e-3 + 0.5 * kOneWaveSeconds, 1e-12);
}

// Of the 23.3472 MB, results are 2 * 2560^2 bytes: 13.1072 us.
TEST(Gemm, OperandsAndResultsAreExposedSeparately) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmExposedResults] = 0.5;
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds + 0.5 * 13.1072e-6, 1e-12);
  gpu.kernels[kGemmExposed] = 0.25;
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu), kOneWaveSeconds + 0.5 * 13.1072e-6 + 0.25 * 10.24e-6, 1e-12);
}

TEST(Gemm, GroupsFillWavesTogether) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmWaveRounding] = 1.0;
  gpu.kernels[kGemmMemoryShare] = 1.2;
  // 25 experts of 2 x 2 tiles are one wave; one expert alone leaves 96 multiprocessors idle or uses smaller tiles.
  const Kernel grouped = product({.m = 512, .n = 512, .k = 8000, .batch = 25}, KernelFamily::kGroupedGemm);
  EXPECT_NEAR(gemm_seconds(grouped, gpu), grouped.flops.count() / 100e12, 1e-9);
  gpu.kernels[kGroupedSpeed] = 0.5;
  EXPECT_NEAR(gemm_seconds(grouped, gpu), grouped.flops.count() / 50e12, 1e-9);
  gpu.kernels[kGroupedIssue] = 2e-6;
  EXPECT_DOUBLE_EQ(library_issue_seconds(grouped, gpu), 50e-6);
}

TEST(Gemm, ADoubledGemmNeverTakesLess) {
  const GpuSpec gpu = [] {
    GpuSpec spec = plain_gpu();
    spec.kernels = class_profile();
    return spec;
  }();
  for (std::int64_t m = 64; m <= 16384; m *= 2) {
    for (std::int64_t n = 64; n <= 16384; n *= 2) {
      for (std::int64_t k = 64; k <= 16384; k *= 2) {
        const double once = gemm_seconds(product({.m = m, .n = n, .k = k}), gpu);
        EXPECT_GE(gemm_seconds(product({.m = 2 * m, .n = n, .k = k}), gpu), once) << m << " " << n << " " << k;
        EXPECT_GE(gemm_seconds(product({.m = m, .n = 2 * n, .k = k}), gpu), once) << m << " " << n << " " << k;
        EXPECT_GE(gemm_seconds(product({.m = m, .n = n, .k = 2 * k}), gpu), once) << m << " " << n << " " << k;
      }
    }
  }
}

// 108 elements of two bytes are no multiple of 16 bytes.
TEST(Gemm, GemmsOfABatchThatAreNotAlignedRunWithoutTensorCores) {
  GpuSpec gpu = plain_gpu();
  gpu.peak[static_cast<std::size_t>(DataType::kFp32)] = FlopRate(10e12);
  const Sizes heads{.m = 2560, .n = 2560, .k = 108};
  Kernel one = product(heads);
  const double alone = gemm_seconds(one, gpu);
  Kernel many = one;
  many.batch = 16;
  many.flops = one.flops * 16.0;
  EXPECT_NEAR(gemm_seconds(many, gpu) / (16 * alone), 10.0, 0.5);  // 100 of 10 TFLOP/s
  many.k = 112;
  EXPECT_LT(gemm_seconds(many, gpu), 17 * alone * 112 / 108);
}

// Of a hundred multiprocessors, where a last wave takes as long as a full one and small tiles cost loads.
GpuSpec gpu_with_held(std::int64_t held, double capability) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kGemmWaveRounding] = 1.0;
  gpu.kernels[kGemmTileLoad] = 20.0;
  gpu.compute_capability = capability;
  gpu.held_sms = held;
  gpu.sms -= held;
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(1e12 * static_cast<double>(gpu.sms));
  return gpu;
}

// The library takes the tiles that fit the whole GPU; one of them waits for the second wave.
TEST(Gemm, ALibraryDoesNotKnowWhichMultiprocessorsAreHeld) {
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu_with_held(1, 8.0)), 2.0 * kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu_with_held(50, 8.0)), 2.0 * kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kOneWave), gpu_with_held(51, 8.0)), 3.0 * kOneWaveSeconds, 1e-12);
}

// Two multiprocessors held in two GPCs leave 96 of 100 in pairs, four leave 92, and nine to sixteen leave 84.
TEST(Gemm, AClusterNeedsTwoMultiprocessorsOfOneProcessingCluster) {
  constexpr Sizes kTiles96{.m = 2048, .n = 3072, .k = 1000};
  EXPECT_NEAR(gemm_seconds(product(kTiles96), gpu_with_held(2, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles96), gpu_with_held(4, 9.0)), 2.0 * kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles96), gpu_with_held(4, 8.0)), kOneWaveSeconds, 1e-12);
  constexpr Sizes kTiles84{.m = 1792, .n = 3072, .k = 1000};
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(12, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(16, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(15, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(13, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(9, 9.0)), kOneWaveSeconds, 1e-12);
  EXPECT_NEAR(gemm_seconds(product(kTiles84), gpu_with_held(17, 9.0)), 2.0 * kOneWaveSeconds, 1e-12);
}

}  // namespace
}  // namespace ringwright::workload::gemm_test
