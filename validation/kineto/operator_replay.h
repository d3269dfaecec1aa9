// Measured matrix multiplications of a profiler's trace against the kernel model of the described GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "core/plan/kernel.h"
#include "traces/kineto/kineto_trace.h"
#include "validation/fit/error_statistics.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

struct ReplayedGemm {
  Kernel kernel;
  std::size_t calls = 0;
  Duration measured;   // median
  Duration simulated;  // of the kernel, without its launch
};

struct GemmReplay {
  std::vector<ReplayedGemm> rows;  // by shape
  std::size_t left_out = 0;        // of types for which the GPU states no peak
};

// 32-bit inputs are compared as fp32: a trace does not tell whether TF32 was on.
[[nodiscard]] GemmReplay replay_gemms(const std::vector<traces::KinetoTrace>& traces, const workload::GpuSpec& gpu);
[[nodiscard]] std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedGemm>& rows);

}  // namespace ringwright::validation
