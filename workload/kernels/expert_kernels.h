// The kernels of an expert layer: router, permutations, the experts' grouped GEMMs, shared experts.
//
// T tokens on a rank, K experts each: the GEMMs of this rank's experts have T K etp rows when tokens are spread evenly,
// since every rank of the group sends as many as it receives.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_expert_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

// Tokens that this rank's experts compute for a microbatch, counted once per expert.
[[nodiscard]] double expert_rows(const KernelContext& context);

}  // namespace ringwright::workload
