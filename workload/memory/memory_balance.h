// The fastest split of layers that fits: with 1F1B an early stage holds more microbatches in flight than a late one, so
// that with scarce memory it gets fewer layers (Yuan 2.0, arXiv 2311.15786, non-uniform pipeline parallelism) - but no
// fewer than necessary, since every stage waits for the slowest.
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

// A stage's need: fixed and per layer, in any unit. And the time of a microbatch in addition to its layers (embedding,
// logits).
struct StageNeed {
  double fixed = 0.0;
  double per_layer = 0.0;  // above 0
  double seconds = 0.0;
};
// The limit of a stage's need, and the time of a microbatch in a layer.
struct StageLimits {
  double need = 0.0;
  double layer_seconds = 0.0;  // above 0
};
// Layers by stage, one or more each, such that the largest need is minimal. `layers` is at least the number of stages.
[[nodiscard]] std::vector<std::int64_t> spread_by_need(std::span<const StageNeed> stages, std::int64_t layers);
// The same among the splits whose stages all respect the limit and whose slowest stage is fastest; empty if no split
// respects it.
[[nodiscard]] std::optional<std::vector<std::int64_t>> spread_in_time(std::span<const StageNeed> stages,
                                                                      std::int64_t layers, const StageLimits& limits);

// Bytes that each stage needs at this split, and the slopes around inputs.parallel.layers_per_part, of which every
// stage has one or more. One chunk per stage.
[[nodiscard]] std::vector<double> needs_at(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                                           std::vector<std::int64_t> split);
[[nodiscard]] std::vector<StageNeed> measure_needs(const StepInputs& inputs, const MemoryAssumptions& assumptions);

struct BalanceGoal {
  const ComputeModel& compute;
  Bytes capacity;  // of a GPU's memory
};
// With stage_layers: balanced-memory, fills options.layers_per_part and reports the split; else does nothing. If no
// split fits, the largest need is minimal. A stage's need is taken from the ledger at two splits: it is linear in the
// number of layers if layers are identical.
void balance_memory(ConfigMap& parallel, const StepInputs& inputs, const MemoryAssumptions& assumptions,
                    const BalanceGoal& goal, ParallelOptions& options);

}  // namespace ringwright::workload
