// Attention as PyTorch's and Megatron's operators compute it without a fused kernel: scores and softmax are stored.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_unfused(KernelMaker& make, const KernelContext& context);
void add_unfused_backward(KernelMaker& make, const KernelContext& context);

}  // namespace ringwright::workload
