// Casts and activations that GEMMs and other kernels take over.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// GELU of a dense MLP is in its GEMMs' epilogues (training.gemm_gelu_fusion).
[[nodiscard]] bool fuses_gelu(const KernelMaker& make);
// How the down GEMM's input comes into a narrow type. The SwiGLU of a dense MLP writes both layouts, forward and
// backward (Transformer Engine, ops/basic/activation.py: quantizers of the next operator and of the previous one's
// gradient). A GELU in the GEMM's epilogue writes one, its gradient both (layernorm_mlp.py: fp8_gemm with gelu,
// fp8_cast_transpose_bgrad_dgelu_fused).
[[nodiscard]] Cast activation_cast(const KernelMaker& make);
[[nodiscard]] Cast activation_gradient_cast(const KernelMaker& make);
// Attention gives its result to the projection in fp8, and takes its gradient so; and it gets queries, keys and values
// in fp8 if nothing changes them after the GEMM (multi_head_attention.py: fp8_mha without rotary embedding).
[[nodiscard]] bool narrow_context(const KernelMaker& make);
[[nodiscard]] bool narrow_queries(const KernelMaker& make);
// The backward pass of an RMSNorm adds the gradient of the residual stream (training.fused_residual_rmsnorm).
[[nodiscard]] bool fuses_residual_gradient(const KernelMaker& make);

}  // namespace ringwright::workload
