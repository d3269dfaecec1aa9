// The initial holder of a piece.
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// Of `pieces` in total. If each member has its own pieces, they are numbered member by member, equally many for each.
[[nodiscard]] inline bool starts_with(const CollectiveCall& call, int member, int piece, int pieces) {
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce: return true;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll: return piece / (pieces / call.size()) == member;
    case CollectiveKind::kBroadcast: return member == call.root;
  }
  return false;
}

}  // namespace ringwright::collectives
