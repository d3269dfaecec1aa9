// How many bytes of activations the parts of a model keep for one microbatch, on one rank.
//
// Korthikanti et al., arXiv 2205.05198, Table 2: sbh(10 + 24/t + 5as/(ht)) per layer with tensor parallelism t, 24 + 10
// both over t with sequence parallelism, no 5as/h with selective and 2sbh with full recomputation (dropout, GELU, f =
// 4h).
#pragma once

#include "core/base/units.h"
#include "workload/layer_kernels.h"

namespace ringwright::workload {

// Kept from the forward to the backward pass.
[[nodiscard]] Bytes layer_activations(const KernelContext& context);
[[nodiscard]] Bytes embedding_activations(const KernelContext& context);
[[nodiscard]] Bytes head_activations(const KernelContext& context);
// Alive only while a pass runs.
[[nodiscard]] Bytes recomputed_layer(const KernelContext& context);
[[nodiscard]] Bytes head_workspace(const KernelContext& context);
[[nodiscard]] Bytes gradient_workspace(const KernelContext& context);

}  // namespace ringwright::workload
