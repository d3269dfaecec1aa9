// What a network model that sees ASTRA-sim's dimensions sees of a cluster.
#pragma once

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

// The cluster's topology becomes that of its dimensions where the model wants it; what is no product of dimensions is a
// mistake at `simulate.network`.
void see_in_dimensions(ConfigMap root, const SimulateSettings& simulate, Cluster& cluster);
// There are no paths to the memory and the drives of hosts.
void check_paths_to_memory(ConfigMap root, const Scenario& scenario);

}  // namespace ringwright::configs
