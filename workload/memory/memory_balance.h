// The fastest split of layers that fits: with 1F1B an early stage holds more microbatches in flight than a late one, so
// that where memory is short it gets fewer layers (Yuan 2.0, arXiv 2311.15786, non-uniform pipeline parallelism) - no
// fewer than it needs to, since every stage waits for the slowest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/config_map.h"
#include "core/ports/compute_model.h"
#include "workload/memory/memory.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// What a stage needs: without layers, and for each of them; in any unit. And how long a microbatch takes beside its
// layers (embedding, logits).
struct StageNeed {
  double fixed = 0.0;
  double per_layer = 0.0;  // above 0
  double seconds = 0.0;
};
// What a stage may need, and how long a microbatch takes in a layer.
struct StageLimits {
  double need = 0.0;
  double layer_seconds = 0.0;  // above 0
};
// Layers by stage, one or more each, so that the neediest stage needs as little as can be. `layers` is at least the
// number of stages.
[[nodiscard]] std::vector<std::int64_t> spread_by_need(std::span<const StageNeed> stages, std::int64_t layers);
// The same among the splits whose stages all keep to the limit and whose slowest stage takes least; nothing when no
// split keeps to it.
[[nodiscard]] std::optional<std::vector<std::int64_t>> spread_in_time(std::span<const StageNeed> stages,
                                                                      std::int64_t layers, const StageLimits& limits);

struct BalanceGoal {
  const ComputeModel& compute;
  Bytes capacity;  // of a GPU's memory
};
// With stage_layers: balanced-memory, fills options.layers_per_part and says the split; else does nothing. Where no
// split fits, the neediest stage needs as little as can be. What a stage needs is taken from the ledger at two splits:
// it grows with the number of layers in proportion where layers are alike.
void balance_memory(ConfigMap& parallel, const StepInputs& inputs, const MemoryAssumptions& assumptions,
                    const BalanceGoal& goal, ParallelOptions& options);

}  // namespace ringwright::workload
