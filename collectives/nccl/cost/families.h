// What collectives and algorithms have in common for NCCL's cost model.
#pragma once

#include "collectives/nccl/tables/vocabulary.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

[[nodiscard]] inline bool one_way(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
}

[[nodiscard]] inline bool is_nvls(NcclAlgorithm a) {
  return a == NcclAlgorithm::kNvls || a == NcclAlgorithm::kNvlsTree;
}

[[nodiscard]] inline bool is_collnet(NcclAlgorithm a) {
  return a == NcclAlgorithm::kCollnetDirect || a == NcclAlgorithm::kCollnetChain;
}

}  // namespace ringwright::collectives
