// Bounds by kind of call; a member's own share is the smaller one where the size does not divide.
#include "tests/collectives/lower_bounds.h"

#include "collectives/shapes/cut.h"

namespace ringwright::collectives {

Bytes least_received(const CollectiveCall& call, int member) {
  if (call.size() == 1) return Bytes(0);
  const Bytes own = Cut(call.bytes, call.size()).size(member);
  switch (call.kind) {
    case CollectiveKind::kAllReduce: return call.bytes;
    case CollectiveKind::kAllGather: return call.bytes - own;
    case CollectiveKind::kReduceScatter: return own;
    case CollectiveKind::kAllToAll: return own * (call.size() - 1);  // every other member sends it a share of this size
    case CollectiveKind::kBroadcast: return member == call.root ? Bytes(0) : call.bytes;
    case CollectiveKind::kReduce: return member == call.root ? call.bytes : Bytes(0);
  }
  return Bytes(0);
}

Bytes least_sent_by_all(const CollectiveCall& call) {
  const int others = call.size() - 1;
  switch (call.kind) {
    case CollectiveKind::kAllReduce: return 2 * others * call.bytes;  // each byte's sum, and its return
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce: return others * call.bytes;
  }
  return Bytes(0);
}

}  // namespace ringwright::collectives
