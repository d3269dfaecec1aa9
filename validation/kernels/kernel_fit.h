// Fits the constants of a GPU's kernel profile to measured kernels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "validation/kernels/kernel_table.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

// A release of FlashAttention that is not the GPU's fastest attention.
struct FittedRelease {
  int release = 0;
  std::size_t rows = 0;
};

struct KernelFit {
  workload::KernelProfile profile;
  std::vector<workload::KernelConstant> fitted;  // the others are unchanged
  std::vector<FittedRelease> fitted_releases;    // in profile.flash_attention
};

// Starts from the GPU's own constants. Rows held out are not used. A constant is fitted only where enough rows depend
// on it.
[[nodiscard]] KernelFit fit_kernels(const workload::GpuSpec& gpu, std::span<const MeasuredKernel> rows);

}  // namespace ringwright::validation
