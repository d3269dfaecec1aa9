// A GPU with round numbers and an ideal kernel profile, for tests of one rule at a time.
#pragma once

#include "workload/gpu/gpu_spec.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {

// 100 multiprocessors, 100 TFLOP/s in bf16, 1000 GB/s, 10 MB of cache; every share 100 %, no ramp, gap or rounding.
inline GpuSpec plain_gpu() {
  using enum KernelConstant;
  GpuSpec gpu;
  gpu.name = "plain";
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(100e12);
  gpu.memory_bandwidth = Bandwidth(1000e9);
  gpu.sms = 100;
  gpu.l2 = Bytes(10'000'000);
  gpu.kernels = class_profile();
  for (const KernelConstant one :
       {kGemmHalfShare, kGemmSustained, kGemmDgradSpeed, kGemmWgradSpeed, kGemmMemoryShare, kGroupedSpeed,
        kAttentionForwardShare, kAttentionBackwardShare, kAttentionWideBackward, kStreamShare, kStreamCacheSpeed,
        kStreamNorm, kStreamElementwise, kStreamSoftmax, kStreamEmbedding, kStreamOptimizer, kStreamCast}) {
    gpu.kernels[one] = 1.0;
  }
  for (const KernelConstant zero : {kGemmRamp, kGemmTileLoad, kGemmWaveRounding, kGemmExposed, kGemmExposedResults,
                                    kGroupedIssue, kAttentionScoreCost, kAttentionTail, kAttentionIssue, kStreamGap,
                                    kStreamStart, kHostLaunch}) {
    gpu.kernels[zero] = 0.0;
  }
  return gpu;
}

struct Sizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
};
inline Kernel product(const Sizes& s, KernelFamily family = KernelFamily::kGemm) {
  const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) *
                       static_cast<double>(s.batch);
  return {.family = family,
          .name = "product",
          .m = s.m,
          .n = s.n,
          .k = s.k,
          .batch = s.batch,
          .flops = Flops(flops),
          .bytes = Bytes(2 * (s.m * s.k + s.k * s.n + s.m * s.n) * s.batch)};
}

}  // namespace ringwright::workload
