// The output of a dry run: the derived sizes of a job, its communication, and the cost of the simulation.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"

namespace ringwright::tools {

[[nodiscard]] std::string plan_text(const configs::Scenario& scenario, const configs::Simulation& simulation);
[[nodiscard]] std::string plan_json(const configs::Scenario& scenario, const configs::Simulation& simulation);

}  // namespace ringwright::tools
