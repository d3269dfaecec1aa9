// Keys of `parallel.zero` that say how ZeRO's stage 3 gathers parameters.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/sharding_options.h"

namespace ringwright::workload {

void read_stage_3(ConfigMap& zero, ShardingOptions& sharding);
// When the keys of ZeRO++ are known.
void check_gather_calls(ConfigMap& zero, const ShardingOptions& sharding);

}  // namespace ringwright::workload
