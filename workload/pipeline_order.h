// The order of passes that a parallel layout asks for.
#pragma once

#include "workload/training_options.h"

namespace ringwright::workload {

[[nodiscard]] PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training);

}  // namespace ringwright::workload
