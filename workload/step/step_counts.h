// The numbers of a step plan, from its programs.
#pragma once

#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Fills parameters, tokens, microbatches, model FLOPs and versions of weights; and `stage_flops` and `communication` by
// program, in the order of the graph's.
void count_step(StepPlan& plan, const StepInputs& inputs);

}  // namespace ringwright::workload
