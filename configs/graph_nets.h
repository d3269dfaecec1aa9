// A graph file of NCCL beside the host: rings that leave by other NICs than those that GPUs use here.
#pragma once

#include <string>

#include "core/config/config_map.h"
#include "network_models/host.h"

namespace ringwright::configs {

// A warning at `comm.graph`; the file's mistakes have been told by its reader. `scenario`: paths are relative to it.
void check_graph_nets(ConfigMap& comm, const std::string& scenario, const network_models::Host& host);

}  // namespace ringwright::configs
