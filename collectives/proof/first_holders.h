// Who holds a piece when a collective begins.
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// Of `pieces` in all. Where each member has pieces of its own, they are numbered member by member, as many for each.
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
