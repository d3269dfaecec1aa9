// The order of passes that a parallel layout asks for.
#pragma once

#include "workload/options/training_options.h"

namespace ringwright::workload {

// Where steps do not empty the pipeline, a stage's order begins with passes_ahead() forward passes of the steps before.
[[nodiscard]] PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training);

}  // namespace ringwright::workload
