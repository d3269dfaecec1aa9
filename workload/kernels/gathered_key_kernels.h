// What attention with gathered keys and values costs beyond its own kernels.
//
// Transformer Engine (context_parallel.py: AttnFuncWithCPAndKVAllGather): keys and values arrive in the zig-zag order
// of the ranks, and are copied into that of the sequence, forward and backward. Attention runs for each of the rank's
// two chunks, and results are copied together. Backward, the chunks' gradients of keys and values, each of those up to
// the chunk's end, are added to sums that were cleared; these are copied into the ranks' order before the
// reduce-scatter.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_keys_in_order(KernelMaker& make, const KernelContext& context);
void add_results_of_chunks(KernelMaker& make);
void add_gradients_of_chunks(KernelMaker& make, const KernelContext& context);

// Columns of all gathered keys and values, for each token of this rank.
[[nodiscard]] std::int64_t gathered_key_columns(const KernelMaker& sizes, const KernelContext& context);
// Of the gathered ones, those that both chunks attend to, in the mean over ranks: a key that both need counts twice.
[[nodiscard]] double keys_of_chunks(const KernelContext& context);

}  // namespace ringwright::workload
