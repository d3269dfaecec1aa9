// Fat tree (folded Clos): leaf, spine and, when the ports do not suffice, core switches; all NICs of a node on one
// leaf. Leiserson 1985; Al-Fares, Loukissas, Vahdat, SIGCOMM 2008.
#include "network_models/topologies/clos/clos_reading.h"

namespace ringwright::network_models {

std::unique_ptr<Topology> read_fat_tree(ConfigMap& fabric, const TopologyRequest& request) {
  return read_clos(fabric, request, ClosKind::kFatTree);
}

}  // namespace ringwright::network_models
