// The lines of a report on what a step costs, and its network.
#pragma once

#include <string>
#include <vector>

#include "core/report/report.h"

namespace ringwright {

// None where the scenario has no `cost`.
[[nodiscard]] std::vector<std::string> cost_lines(const Report& report);

}  // namespace ringwright
