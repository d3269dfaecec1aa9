// What a run will cost this machine, by rule of thumb and before the work: so that nobody waits for hours for an answer
// that a slip in one key has made unreachable.
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
  std::string counts;    // what it follows from: "2,000,000 tasks and 4,000,000 messages"
  Place at;
};

// Of playing what was put together.
[[nodiscard]] RunCost cost_of_playing(const Scenario& scenario, const Simulation& simulation);

// E149 where the estimate is above kMostSeconds or kMostMemory, unless the scenario goes on all the same
// (simulate.allow_slow); empty otherwise.
[[nodiscard]] Diagnostics too_costly(const Scenario& scenario, const RunCost& cost);

}  // namespace ringwright::configs
