// How many bytes of activations the parts of a model keep for one microbatch, on one rank.
//
// Korthikanti et al., arXiv 2205.05198, Table 2: sbh(10 + 24/t + 5as/(ht)) per layer with tensor parallelism t, 24 + 10
// both over t with sequence parallelism, no 5as/h with selective and 2sbh with full recomputation (dropout, GELU, f =
// 4h). An expert layer keeps instead of the MLP's tensors, for its R rows (T K with an equal load): the rows that
// arrived, the experts' gate, up and activation, and what they give, which the weighted sum needs again: R(2h + 3f);
// and what the shared experts keep.
#pragma once

#include "core/base/units.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// Kept from the forward to the backward pass.
enum class MlpKind { kDense, kExperts };
[[nodiscard]] Bytes layer_activations(const KernelContext& context, MlpKind kind = MlpKind::kDense);
[[nodiscard]] Bytes embedding_activations(const KernelContext& context);
[[nodiscard]] Bytes head_activations(const KernelContext& context);
// Alive only while a pass runs.
[[nodiscard]] Bytes recomputed_layer(const KernelContext& context, MlpKind kind = MlpKind::kDense);
[[nodiscard]] Bytes head_workspace(const KernelContext& context);
[[nodiscard]] Bytes gradient_workspace(const KernelContext& context, MlpKind kind = MlpKind::kDense);

}  // namespace ringwright::workload
