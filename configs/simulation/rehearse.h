// Rehearses the collectives of a simulation's passes, where they are messages that keep to links of their own.
#pragma once

#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright::configs {

// Nothing inside where passes have to be played task by task: their collectives are formulas already or are played as
// kernels run them, classes of ranks use each other's links, or the network changes with time.
[[nodiscard]] std::optional<RehearsedCalls> rehearse(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
