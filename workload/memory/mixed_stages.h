// Pipeline stages on GPUs of different speed and memory: the fastest split of layers that fits each stage's own GPUs.
#pragma once

#include <span>

#include "core/config/config_map.h"
#include "workload/memory/memory.h"
#include "workload/options/layer_balance.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Of one pipeline stage: the costs of layers on its slowest GPU, and the memory of its smallest.
struct StageGpu {
  LayerCosts costs;
  Bytes capacity;
};

// With stage_layers: balanced or balanced-memory, fills options.layers_per_part so that the slowest stage is as fast as
// possible, none exceeds its memory (where a stage is one model chunk), and reports the split; else does nothing.
void balance_mixed_stages(ConfigMap& parallel, const StepInputs& inputs, const MemoryAssumptions& assumptions,
                          std::span<const StageGpu> stages, ParallelOptions& options);

}  // namespace ringwright::workload
