// Norms, rotation, activations and their gradients: one fused kernel for each, or the chain of kernels that PyTorch
// runs one operator after the other.
//
// Fused: each tensor is read and written once (Transformer Engine, Apex, torch.compile). Eager: what the operators of
// PyTorch 2.5 read and write, derivatives as in its tools/autograd/derivatives.yaml. An RMSNorm is cast to fp32,
// squared, averaged, scaled, cast back and multiplied by its weight; a rotation is a product of complex numbers in
// fp32; a gated activation is a product of two tensors. LayerNorm and GELU are single kernels there too.
#pragma once

#include <string>

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_norm(KernelMaker& make, const std::string& name, std::int64_t elements);
// Of the input and of the weights; then the gradient that came around the block is added, where there is one.
void add_norm_backward(KernelMaker& make, const std::string& name, std::int64_t elements);
void add_residual_gradient(KernelMaker& make, std::int64_t elements);

void add_rotation(KernelMaker& make, const std::string& name, std::int64_t elements);

// SwiGLU or GELU, over what the down product takes in.
void add_activation(KernelMaker& make, const std::string& suffix, std::int64_t elements);
void add_activation_backward(KernelMaker& make, std::int64_t elements);

}  // namespace ringwright::workload
