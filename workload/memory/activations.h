// Stored activation bytes of the parts of a model for one microbatch, on one rank.
//
// Korthikanti et al., arXiv 2205.05198, Table 2: sbh(10 + 24/t + 5as/(ht)) per layer with tensor parallelism t, 24 + 10
// both over t with sequence parallelism, no 5as/h with selective and 2sbh with full recomputation (dropout, GELU, f =
// 4h). An expert layer stores instead of the MLP's tensors, for its R rows (T K with an equal load): the received rows
// and the experts' gate, up and activation: R(h + 3f); and the tensors of the shared experts.
#pragma once

#include "core/base/units.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// Stored from the forward to the backward pass. Of a Mamba-2 layer: its norm's and its first GEMM's input, that GEMM's
// result, the scan's result before and after the gated norm, and the last GEMM's input (mamba_ssm, MambaSplitConv1d
// with its memory-efficient path: the convolution and the states are computed again). Of a Gated DeltaNet: what
// Megatron-LM's operators and flash-linear-attention store (activations.cc, delta_net_columns).
[[nodiscard]] Bytes layer_activations(const KernelContext& context, LayerHalves halves = {});
// Of a layer of which nothing is recomputed, what its second half stores.
[[nodiscard]] Bytes stored_by_mlp(const KernelContext& context, LayerHalves halves);
[[nodiscard]] Bytes embedding_activations(const KernelContext& context);
[[nodiscard]] Bytes predictor_activations(const KernelContext& context);
// Of these, what is recomputed with the layer that predicts.
[[nodiscard]] Bytes recomputed_predictor(const KernelContext& context);
[[nodiscard]] Bytes head_activations(const KernelContext& context);
// Bytes of a value of the inputs of linear layers, stored for the weight gradient, with its scale in fp4.
[[nodiscard]] double linear_input_bytes(const KernelContext& context);
// Alive only while a pass runs.
[[nodiscard]] Bytes recomputed_layer(const KernelContext& context, LayerHalves halves = {});
[[nodiscard]] Bytes head_workspace(const KernelContext& context);
// Released before the loss's gradients are computed, but in blocks that PyTorch's allocator retains and that are too
// small for those: logits in the working type, of which an eager loss takes a copy in fp32.
[[nodiscard]] Bytes head_cached(const KernelContext& context);
[[nodiscard]] Bytes gradient_workspace(const KernelContext& context, LayerHalves halves = {});

}  // namespace ringwright::workload
