// Who holds a piece when a collective begins.
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// `owner`: the member that the piece comes from, where each has pieces of its own.
[[nodiscard]] constexpr bool starts_with(const CollectiveCall& call, int member, int owner) {
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce: return true;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll: return owner == member;
    case CollectiveKind::kBroadcast: return member == call.root;
  }
  return false;
}

}  // namespace ringwright::collectives
