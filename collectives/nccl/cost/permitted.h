// Which algorithms and protocols NCCL has for an operation, in any version.
#pragma once

#include "collectives/nccl/tables/vocabulary.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

[[nodiscard]] bool nccl_has(CollectiveKind kind, NcclAlgorithm algorithm, Protocol protocol);

}  // namespace ringwright::collectives
