// The factors of nccl-tests.
#include "collectives/bus_bandwidth.h"

namespace ringwright::collectives {

double busbw_factor(CollectiveKind kind, int members) {
  const double to_others = static_cast<double>(members - 1) / members;
  switch (kind) {
    case CollectiveKind::kAllReduce: return 2.0 * to_others;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll: return to_others;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce: return 1.0;
  }
  return 1.0;
}

}  // namespace ringwright::collectives
