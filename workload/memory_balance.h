// Pipeline stages that need memory alike: with 1F1B an early stage holds more microbatches in flight than a late one,
// so it gets fewer layers (Yuan 2.0, arXiv 2311.15786, non-uniform pipeline parallelism).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/config/config_map.h"
#include "workload/memory.h"
#include "workload/training_options.h"

namespace ringwright::workload {

// What a stage needs: without layers, and for each of them; in any unit.
struct StageNeed {
  double fixed = 0.0;
  double per_layer = 0.0;  // above 0
};
// Layers by stage, one or more each, so that the neediest stage needs as little as can be. `layers` is at least the
// number of stages.
[[nodiscard]] std::vector<std::int64_t> spread_by_need(std::span<const StageNeed> stages, std::int64_t layers);

// With stage_layers: balanced-memory, fills options.layers_per_part and says the split; else does nothing. What a stage
// needs is taken from the ledger at two splits: it grows with the number of layers in proportion where layers are
// alike.
void balance_memory(ConfigMap& parallel, const ModelShape& shape, const TrainingOptions& training,
                    const MemoryAssumptions& assumptions, ParallelOptions& options);

}  // namespace ringwright::workload
