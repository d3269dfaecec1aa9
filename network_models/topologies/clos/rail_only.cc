// Rail-only: each rail is a separate network; bytes change rails over NVLink in the sender's node (Wang et al., arXiv
// 2307.12169).
#include "network_models/topologies/clos/clos_reading.h"

namespace ringwright::network_models {

std::unique_ptr<Topology> read_rail_only(ConfigMap& fabric, const TopologyRequest& request) {
  return read_clos(fabric, request, ClosKind::kRailOnly);
}

}  // namespace ringwright::network_models
