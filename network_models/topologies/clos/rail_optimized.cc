// Rail-optimised Clos: NIC n of every node of a scalable unit connects to the unit's leaf n; spines connect all leaves
// (NVIDIA DGX SuperPOD reference architecture).
#include "network_models/topologies/clos/clos_reading.h"

namespace ringwright::network_models {

std::unique_ptr<Topology> read_rail_optimized(ConfigMap& fabric, const TopologyRequest& request) {
  return read_clos(fabric, request, ClosKind::kRailOptimized);
}

}  // namespace ringwright::network_models
