// The kernels at the end of a training step: gradients are cleared, scaled and normed, and weights updated.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// Work on `elements` parameters or gradients of a rank, outside the layers.
[[nodiscard]] std::vector<Kernel> clear_gradients(const KernelContext& context, std::int64_t elements);
// Megatron divides a bucket by the data-parallel size before it reduces it.
[[nodiscard]] std::vector<Kernel> scale_gradients(const KernelContext& context, std::int64_t elements);
// To those of earlier microbatches.
[[nodiscard]] std::vector<Kernel> add_gradients(const KernelContext& context, std::int64_t elements);
// The copy of sharded parameters' gradients into the reduction buffer, in the reduction's type; also of those that were
// accumulated in that type.
enum class CopiedGradients { kOfMicrobatch, kAccumulated };
[[nodiscard]] std::vector<Kernel> copy_gradients(const KernelContext& context, std::int64_t elements,
                                                 CopiedGradients copied = CopiedGradients::kOfMicrobatch);
// Unsharded gradients that are not reduced yet. FSDP2 casts those of the first microbatch to the reduction's type and
// adds the others to them (_fsdp_param.py: to_accumulated_grad_if_needed, accumulate_unsharded_grad_if_needed); FSDP1
// leaves the first ones where they are, and adds in the working type.
enum class Accumulated { kFirst, kFurther };
[[nodiscard]] std::vector<Kernel> accumulate_unsharded(const KernelContext& context, std::int64_t elements,
                                                       Accumulated which, bool in_reduction_type);
// ZeRO++: weights to int8 and back, gradients to int4 and, after the sum over ranks, back.
[[nodiscard]] std::vector<Kernel> quantize_weights(const KernelContext& context, std::int64_t elements);
[[nodiscard]] std::vector<Kernel> restore_weights(const KernelContext& context, std::int64_t elements);
[[nodiscard]] std::vector<Kernel> quantize_gradients(const KernelContext& context, std::int64_t elements);
[[nodiscard]] std::vector<Kernel> sum_quantized_gradients(const KernelContext& context, std::int64_t elements,
                                                          std::int64_t sums);
// So many matrices of the layers into the type of their GEMMs, in both layouts; those that are gathered in it into the
// other layout.
[[nodiscard]] std::vector<Kernel> cast_weights(const KernelContext& context, std::int64_t elements,
                                               std::int64_t matrices);
// What an optimizer updates: its own copies of weights in fp32 (Megatron, DeepSpeed), or the parameters (FSDP).
enum class Updated { kCopies, kParameters };
// Copies have gradients of their own in fp32, into which those in two bytes are cast first (Megatron,
// distrib_optimizer.py: _copy_model_grads_to_main_grads), unless an optimizer with other types reads them as they are.
[[nodiscard]] std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements, Updated updated);
// Clipping, then the update: Adam with all of its state in fp32 reads 16 bytes and writes 12 per parameter; copies are
// then copied into the weights. LAMB's moments and update come first, then the norms of weights and update, summed over
// ranks that hold parts of a tensor.
[[nodiscard]] std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements,
                                                   Updated updated);
// Workers that train on their own: the type that they exchange is written from the weights, less the outer ones where
// there is an outer optimizer; and what they receive is taken over, by that optimizer where there is one.
[[nodiscard]] std::vector<Kernel> outer_gradient(const KernelContext& context, std::int64_t elements);
[[nodiscard]] std::vector<Kernel> outer_update(const KernelContext& context, std::int64_t elements);
// LAMB: weights take their updates; empty for others.
[[nodiscard]] std::vector<Kernel> optimizer_apply(const KernelContext& context, std::int64_t elements);

}  // namespace ringwright::workload
