// The training step of a scenario as a task graph: built from its model, or replayed from its traces.
#pragma once

#include "configs/scenario/scenario.h"
#include "workload/step/step_builder.h"

namespace ringwright::configs {

// With as many iterations as the scenario simulates. Traces are the same for all `passes`.
[[nodiscard]] workload::StepPlan plan_step(const Scenario& scenario,
                                           workload::Passes passes = workload::Passes::kAsSegments);

}  // namespace ringwright::configs
