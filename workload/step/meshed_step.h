// A training step whose pipeline stages have ranks of their own (workload/layout/stage_meshes.h).
#pragma once

#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Ranks of a stage share a program if they exchange the same with the neighbouring stages. Passes are segments or
// written out; no cycles are left out.
[[nodiscard]] StepPlan build_meshed_step(const StepInputs& inputs, Passes passes);

}  // namespace ringwright::workload
