// The training step of a scenario as a task graph: built from its model, or replayed from its traces.
#pragma once

#include <cstdint>

#include "configs/scenario/scenario.h"
#include "workload/step/step_builder.h"

namespace ringwright::configs {

// Whether the scenario's checkpoint, if it has one, is part of its steps.
enum class Checkpointing { kAsGiven, kLeftOut };

// Whether workers that train on their own meet in its steps.
enum class OuterStep { kLeftOut, kInEveryStep };

// With as many iterations as the scenario simulates. Traces are the same for all `passes`; a step with a checkpoint
// leaves no cycles out. `known`: as of build_step().
[[nodiscard]] workload::StepPlan plan_step(const Scenario& scenario,
                                           workload::Passes passes = workload::Passes::kAsSegments,
                                           Checkpointing checkpointing = Checkpointing::kAsGiven,
                                           OuterStep outer_step = OuterStep::kLeftOut,
                                           workload::KnownGroups* known = nullptr);

}  // namespace ringwright::configs
