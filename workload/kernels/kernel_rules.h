// The rules that turn a kernel's sizes into time on one GPU, by family.
#pragma once

#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::workload {

// Seconds that the GPU is busy with one launch, the gap to the next kernel included.
[[nodiscard]] double kernel_seconds(const Kernel& kernel, const GpuSpec& gpu);
// Seconds of the host that a library needs for one call, beyond what every kernel costs to issue.
[[nodiscard]] double library_issue_seconds(const Kernel& kernel, const GpuSpec& gpu);
// Whether the kernel's sizes lie within those that the constants were fitted on, and products in its type were
// measured.
[[nodiscard]] bool within_fit(const Kernel& kernel, const KernelProfile& profile);

// The rules by group of families; each in a file of its own. Seconds without the gap.
// The share of peak that products of operands of the type reach.
[[nodiscard]] KernelConstant gemm_share(DataType type);
[[nodiscard]] double gemm_seconds(const Kernel& kernel, const GpuSpec& gpu);
[[nodiscard]] double attention_seconds(const Kernel& kernel, const GpuSpec& gpu);
[[nodiscard]] double stream_seconds(const Kernel& kernel, const GpuSpec& gpu);

}  // namespace ringwright::workload
