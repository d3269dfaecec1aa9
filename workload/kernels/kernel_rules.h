// The rules that turn a kernel's sizes into time on one GPU, by family.
#pragma once

#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::workload {

// Seconds that the GPU is busy with one launch, the gap to the next kernel included.
[[nodiscard]] double kernel_seconds(const Kernel& kernel, const GpuSpec& gpu);
// The part of kernel_seconds() that does not depend on sizes: the gap, and the start of GEMMs and of attention.
[[nodiscard]] double start_seconds(const Kernel& kernel, const GpuSpec& gpu);
// Host seconds of a library for one call, in addition to the issue cost of every kernel.
[[nodiscard]] double library_issue_seconds(const Kernel& kernel, const GpuSpec& gpu);
// Whether the kernel's sizes lie within the fitted range, and GEMMs in its type were measured.
[[nodiscard]] bool within_fit(const Kernel& kernel, const KernelProfile& profile);

// The rules by group of families, each in its own file. Seconds without the gap. The share of peak that GEMMs with
// operands of the type reach.
[[nodiscard]] KernelConstant gemm_share(DataType type);
// Of all GEMMs of its batch.
[[nodiscard]] double gemm_operand_bytes(const Kernel& kernel);
[[nodiscard]] double gemm_start(const Kernel& kernel, const KernelProfile& profile);
[[nodiscard]] double gemm_seconds(const Kernel& kernel, const GpuSpec& gpu);
[[nodiscard]] double attention_seconds(const Kernel& kernel, const GpuSpec& gpu);
// How long bytes take whose stream touches so many, relative to bytes in memory: less where the last-level cache has
// them.
[[nodiscard]] double stream_slowness(double touched, const GpuSpec& gpu);
[[nodiscard]] double stream_seconds(const Kernel& kernel, const GpuSpec& gpu);

}  // namespace ringwright::workload
