// Fits the constants of a GPU's kernel profile to measured kernels.
#pragma once

#include <span>
#include <vector>

#include "validation/kernels/kernel_table.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

struct KernelFit {
  workload::KernelProfile profile;
  std::vector<workload::KernelConstant> fitted;  // the others stayed as they were
};

// Starts from the GPU's own constants. Rows kept aside are not looked at. A constant is fitted only where enough rows
// speak about it.
[[nodiscard]] KernelFit fit_kernels(const workload::GpuSpec& gpu, std::span<const MeasuredKernel> rows);

}  // namespace ringwright::validation
