// What a checkpoint of a training job holds: weights and optimizer state, as the layout shards them.
//
// With Adam in mixed precision 14 bytes per parameter: 2 (weights) + 4 (fp32 master weights) + 8 (two moments).
// Gradients are not saved. Every parameter and its state are saved once: ranks that hold copies share the writing
// (DeepFreeze, CCGrid 2020; Megatron-LM's fully parallel save).
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "workload/options/step_inputs.h"

namespace ringwright::workload {

struct SavedState {
  std::int64_t parameters = 0;
  Bytes total;
  Bytes of_largest_rank;  // where the ranks of a stage share its state evenly
  // Weights and optimizer state of one model replica that a rank holds itself, copies included: what it must load.
  Bytes loaded_by_rank;
};

[[nodiscard]] SavedState saved_state(const StepInputs& inputs);

}  // namespace ringwright::workload
