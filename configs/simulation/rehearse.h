// Rehearses the collectives of a simulation's passes, where they share no links.
#pragma once

#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/lone_network.h"
#include "configs/simulation/simulation.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright::configs {

// Empty where passes have to be simulated task by task: their collectives are formulas already, classes of ranks share
// links, or the network changes with time. Where members of several classes call others than rings, within hosts, their
// times come from `lone`, which outlives the result; null: they are simulated task by task.
[[nodiscard]] std::optional<RehearsedCalls> rehearse(const Scenario& scenario, const Simulation& simulation,
                                                     LoneNetwork* lone);
// The same where collectives are simulated as kernels run them. `lone` outlives the result.
[[nodiscard]] std::optional<RehearsedCalls> rehearse_kernels(const Simulation& simulation, LoneCalls& lone);

}  // namespace ringwright::configs
