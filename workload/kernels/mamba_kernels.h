// Kernels of a Mamba-2 layer: two GEMMs around a convolution, the chunked scan, and a gated norm.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

[[nodiscard]] bool is_of_mamba(LayerSection section);
void add_mamba_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

// Columns of a token that context-parallel ranks exchange before the convolution, one call for each, and after the
// scan.
[[nodiscard]] std::vector<std::int64_t> mamba_exchange(const KernelContext& context);
[[nodiscard]] std::int64_t mamba_result(const KernelContext& context);

}  // namespace ringwright::workload
