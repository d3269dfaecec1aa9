// Effects of a fabric whose switches reduce (SHARP) on collectives, and of one without it on the user's choices.
#pragma once

#include "collectives/comm_settings.h"
#include "collectives/nccl/cost/selector.h"
#include "core/config/config_map.h"
#include "network_models/topologies/switch_sums.h"

namespace ringwright::configs {

// Passes the fabric's reduction to NCCL, and the costs of the switches. NCCL does not use CollNet where there is none,
// which is a warning; a plan that names it is a mistake.
void apply_network_sums(ConfigMap root, const network_models::SwitchSums& sums, collectives::NcclSetup& nccl,
                        collectives::CommSettings& comm);

}  // namespace ringwright::configs
