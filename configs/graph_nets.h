// A graph file of NCCL beside the host: rings that leave by other NICs than those that GPUs use here.
#pragma once

#include "core/config/config_map.h"
#include "network_models/host.h"

namespace ringwright::configs {

// A warning at `comm.graph`; the mistakes in the file have been reported by its reader.
void check_graph_nets(ConfigMap& comm, const network_models::Host& host);

}  // namespace ringwright::configs
