// Buffers of attention with context parallelism, alive only while it runs.
//
// Transformer Engine (context_parallel.py). A ring's forward pass receives every block of keys and values into a buffer
// of its own, and keeps the results of all steps until they are merged (AttnFuncWithCPAndKVP2P); on the last rank all
// results are whole. Backward it needs less than an MLP. With gathered keys (AttnFuncWithCPAndKVAllGather) the backward
// pass has all keys and values, the sums of their gradients and the gradients of both chunks.
#pragma once

#include "core/base/units.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// Beyond what the layer stores: the MLP's tensors do not exist while attention runs.
[[nodiscard]] Bytes forward_exchange_workspace(const KernelContext& context, LayerHalves halves = {});
// With the forward pass of a recomputed core.
[[nodiscard]] Bytes backward_exchange_workspace(const KernelContext& context, LayerHalves halves = {});

}  // namespace ringwright::workload
