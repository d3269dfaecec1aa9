// What a fabric whose switches add up (SHARP) means for collectives, and what one without it does to what the user asks
// for.
#pragma once

#include "collectives/comm_settings.h"
#include "collectives/nccl/cost/selector.h"
#include "core/config/config_map.h"
#include "network_models/topologies/switch_sums.h"

namespace ringwright::configs {

// Tells NCCL of the fabric, and its costs of the switches. NCCL goes without CollNet where there is none, which is a
// warning; a plan that names it is a mistake.
void apply_network_sums(ConfigMap root, const network_models::SwitchSums& sums, collectives::NcclSetup& nccl,
                        collectives::CommSettings& comm);

}  // namespace ringwright::configs
