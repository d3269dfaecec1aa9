// What a step of ring attention costs beyond the kernel of its block.
//
// With zig-zag order a step other than the first processes a half: of the keys and values for all queries, or of the
// queries for all keys and values, in equal numbers over the ranks.
//
// Transformer Engine (context_parallel.py: AttnFuncWithCPAndKVP2P): the half is copied out. Forward, a step's result is
// scaled by its share of the softmax and added to the result. Backward, the gradients of queries, keys and values are
// added to those of the steps before, keys' and values' joined before that.
//
// PyTorch (torch/distributed/tensor/experimental/_attention.py: _SDPAMerger, _templated_ring_attention_backward):
// halves are views. Results and gradients are summed in fp32, those of keys and values for every query head; a sum over
// half of the rows is joined with the other half (_partial_update). Compiled, the passes over a tensor are one kernel.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

enum class RingPass { kForward, kBackward };

void add_ring_halves(KernelMaker& make, const KernelContext& context, RingPass pass);
void add_ring_merge(KernelMaker& make, const KernelContext& context, RingPass pass);

}  // namespace ringwright::workload
