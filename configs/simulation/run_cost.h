// Estimated cost of a run on this machine, by rule of thumb and before the work: so that a mistake in one key does not
// start a run of many hours.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

inline constexpr double kMostSeconds = 120.0;
inline constexpr double kMostMemory = 0x1p34;  // bytes

struct RunCost {
  double seconds = 0.0;  // of one core
  double memory = 0.0;   // bytes
  std::string counts;    // basis of the estimate: "2,000,000 tasks and 4,000,000 messages"
  Place at;
};

// Of simulating the task graph once it is built.
[[nodiscard]] RunCost cost_of_playing(const Scenario& scenario, const Simulation& simulation);

// E149 where the estimate is above kMostSeconds or kMostMemory, unless the scenario allows it (simulate.allow_slow);
// empty otherwise.
[[nodiscard]] Diagnostics too_costly(const Scenario& scenario, const RunCost& cost);

}  // namespace ringwright::configs
