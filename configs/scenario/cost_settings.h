// The block `cost` of a scenario: what a GPU-hour costs, and what GPUs and hosts draw.
#pragma once

#include "core/config/config_map.h"
#include "core/report/step_cost.h"

namespace ringwright::configs {

// Empty where the scenario has no `cost`.
[[nodiscard]] std::optional<CostRates> read_cost(ConfigMap root, std::int64_t hosts);

}  // namespace ringwright::configs
