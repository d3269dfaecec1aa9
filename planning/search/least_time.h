// A lower bound of the predicted step of a scenario, found without a plan of it (workload/step/least_step.h).
#pragma once

#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/least_calls.h"

namespace ringwright::planning {

// On the machine of a scenario, whose own job is of no interest.
struct BoundedJob {
  const configs::Scenario& machine;
  const configs::Job& job;
  const configs::SimulateSettings& simulate;
};

// Nothing where no bound is known: GPUs of several kinds or faster than nominal, several steps, collectives that are
// cut together with kernels, jobs other than a transformer's. `calls`: of the scenario's machine and choices.
// `known`: of layouts before this one; null: none.
[[nodiscard]] std::optional<Duration> least_time(const BoundedJob& bounded, configs::LeastCalls& calls,
                                                 workload::KnownLayouts* known = nullptr);

}  // namespace ringwright::planning
