// Measured kernels of PyTorch's operators, from a profiler's trace, against the kernel model of the described GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/plan/kernel.h"
#include "traces/kineto/kineto_trace.h"
#include "validation/fit/error_statistics.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

struct ReplayedOperator {
  Kernel kernel;  // named by the operator
  std::size_t calls = 0;
  Duration measured;   // median
  Duration simulated;  // of the kernel, with its start and end, without the host
};

struct OperatorReplay {
  std::vector<ReplayedOperator> gemms;   // by shape
  std::vector<ReplayedOperator> others;  // by operator and shape
  std::size_t left_out = 0;              // of types for which the GPU states no peak
  Duration compared;                     // time of the kernels in rows
  Duration computing;                    // of all kernels that do not communicate
};

// 32-bit inputs are compared as fp32, or as TF32 where the name of the kernel says so.
[[nodiscard]] OperatorReplay replay_operators(const std::vector<traces::KinetoTrace>& traces,
                                              const workload::GpuSpec& gpu);
[[nodiscard]] std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedOperator>& rows);

}  // namespace ringwright::validation
