// The inputs of one training step: the model's shape, the training settings, and the parallel layout.
#pragma once

#include "workload/model/model_shape.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

struct StepInputs {
  const ModelShape& shape;
  const TrainingOptions& training;
  const ParallelOptions& parallel;  // as read_parallel_options leaves it: dp and layers_per_part are set
};

}  // namespace ringwright::workload
