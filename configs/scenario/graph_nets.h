// Compares a graph file of NCCL with the host: rings that use NICs which the host does not have.
#pragma once

#include "collectives/nccl/cost/selector.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

// A warning at `comm.graph`; its rings' messages leave or enter through the GPU's own NIC there.
void check_graph_nets(ConfigMap& comm, const collectives::NcclSetup& nccl);

}  // namespace ringwright::configs
