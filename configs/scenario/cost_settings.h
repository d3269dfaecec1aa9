// The block `cost` of a scenario: prices of GPU-hours and of the network, and the power of GPUs, hosts and switches.
#pragma once

#include "configs/scenario/scenario.h"
#include "core/config/config_map.h"
#include "core/report/step_cost.h"

namespace ringwright::configs {

// Empty where the scenario has no `cost`.
[[nodiscard]] std::optional<CostRates> read_cost(ConfigMap root, const Cluster& cluster);

}  // namespace ringwright::configs
