// A lower bound of the predicted step of a scenario, found without a plan of it (workload/step/least_step.h).
#pragma once

#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/least_calls.h"

namespace ringwright::planning {

// Nothing where no bound is known: GPUs of several kinds or faster than nominal, several steps, collectives that are
// cut together with kernels, jobs other than a transformer's. `calls`: of the scenario's machine and choices.
// `known`: of layouts before this one; null: none.
[[nodiscard]] std::optional<Duration> least_time(const configs::Scenario& scenario, configs::LeastCalls& calls,
                                                 workload::KnownLayouts* known = nullptr);

}  // namespace ringwright::planning
