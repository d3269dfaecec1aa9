// Stored activation bytes of an expert layer for one microbatch, on one rank: the part that experts process.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Modules as a whole: recomputed as the options say, or all stored.
enum class WholeModules { kAsSet, kStored };

// In bytes: inputs of the experts' GEMMs and of their activation, the router's scores, and the shared experts' tensors.
[[nodiscard]] double stored_by_experts(const KernelContext& context, const KernelMaker& sizes, WholeModules modules);

}  // namespace ringwright::workload
