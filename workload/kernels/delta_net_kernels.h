// Kernels of a Gated DeltaNet layer: two GEMMs around a convolution, norms of queries and keys, the delta rule in
// chunks, and a gated norm.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

[[nodiscard]] bool is_of_delta_net(LayerSection section);
void add_delta_net_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

// Columns of a token that context-parallel ranks exchange before the convolution, one call for each, and after the
// gated norm.
[[nodiscard]] std::vector<std::int64_t> delta_net_exchange(const KernelContext& context);
[[nodiscard]] std::int64_t delta_net_result(const KernelContext& context);

}  // namespace ringwright::workload
