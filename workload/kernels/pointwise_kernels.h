// Norms, activations and their gradients: one fused kernel for each, or PyTorch's chain of kernels, one per
// operator.
//
// Fused: each tensor is read and written once (Transformer Engine, Apex, torch.compile). Eager: the bytes that the
// operators of PyTorch 2.5 read and write, derivatives as in its tools/autograd/derivatives.yaml. An RMSNorm is cast to
// fp32, squared, averaged, scaled, cast back and multiplied by its weight; a gated activation is a product of two
// tensors. LayerNorm and GELU are single kernels there too.
#pragma once

#include <string>

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_norm(KernelMaker& make, const std::string& name, std::int64_t elements);
// Gradients of the input and of the weights; then the gradient of the residual branch is added, if any.
void add_norm_backward(KernelMaker& make, const std::string& name, std::int64_t elements);
void add_residual_gradient(KernelMaker& make, std::int64_t elements);

// After attention, Mamba-2 or MLP: bias and dropout if any, addition to the residual stream; without that addition's
// gradient.
void add_residual(KernelMaker& make);
enum class OutputBias { kNone, kAdded };  // of the half's last linear layer
void add_residual_backward(KernelMaker& make, OutputBias bias);

// SwiGLU or GELU, over the input of the down GEMM.
void add_activation(KernelMaker& make, const std::string& suffix, std::int64_t elements);
void add_activation_backward(KernelMaker& make, std::int64_t elements);
// GELU in the epilogues of the dense MLP's GEMMs, which have been added (KernelMaker::fuses_gelu).
void add_fused_gelu(KernelMaker& make);
void add_fused_gelu_backward(KernelMaker& make);

}  // namespace ringwright::workload
