// The kernels at the end of a training step: gradients are cleared, scaled and measured, and Adam updates the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/layer_kernels.h"

namespace ringwright::workload {

// Work on `elements` parameters or gradients of a rank, outside of the layers.
[[nodiscard]] std::vector<Kernel> clear_gradients(const KernelContext& context, std::int64_t elements);
// Megatron divides a bucket by the data-parallel size before it reduces it.
[[nodiscard]] std::vector<Kernel> scale_gradients(const KernelContext& context, std::int64_t elements);
[[nodiscard]] std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements);
// Clipping, then Adam with fp32 master weights: 14 bytes read and 14 written per parameter.
[[nodiscard]] std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements);

}  // namespace ringwright::workload
