// What a dry run prints: the derived sizes of a job, what it communicates, and what playing it will cost.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"

namespace ringwright::tools {

[[nodiscard]] std::string plan_text(const configs::Scenario& scenario, const configs::Simulation& simulation);
[[nodiscard]] std::string plan_json(const configs::Scenario& scenario, const configs::Simulation& simulation);

}  // namespace ringwright::tools
