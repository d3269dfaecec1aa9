// Bus bandwidth as nccl-tests counts it: size / time x a factor that makes an ideal ring report its link rate.
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// All-reduce 2 (n-1)/n; reduce-scatter, all-gather, all-to-all (n-1)/n; broadcast, reduce 1 (nccl-tests,
// doc/PERFORMANCE.md).
[[nodiscard]] double busbw_factor(CollectiveKind kind, int members);

}  // namespace ringwright::collectives
