// The order of passes of a parallel layout.
#pragma once

#include "workload/options/training_options.h"

namespace ringwright::workload {

// If steps do not empty the pipeline, a stage's order begins with passes_ahead() forward passes of earlier steps.
[[nodiscard]] PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training);

}  // namespace ringwright::workload
