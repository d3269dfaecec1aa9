// The kernels of an expert layer: router, permutations, the experts' grouped products, shared experts.
//
// T tokens on a rank, K experts each: the products of this rank's experts have T K etp rows when tokens are spread
// equally, since every rank of the group sends as many as it gets.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_expert_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

// Tokens that this rank's experts compute for a microbatch, counted once for each expert.
[[nodiscard]] double expert_rows(const KernelContext& context);

}  // namespace ringwright::workload
