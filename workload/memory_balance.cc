#include "workload/memory_balance.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

std::vector<double> needs_at(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                             std::vector<std::int64_t> split) {
  ParallelOptions parallel = inputs.parallel;
  parallel.layers_per_part = std::move(split);
  std::vector<double> needs;
  for (const StageMemory& stage :
       memory_ledger({.shape = inputs.shape, .training = inputs.training, .parallel = parallel}, assumptions)) {
    needs.push_back(static_cast<double>(stage.total().count()));
  }
  return needs;
}

// The slope of every stage: neighbours hand each other a layer, twice, so that with an odd number of stages the last
// one has its turn, too.
std::vector<StageNeed> measure_needs(const StepInputs& inputs, const MemoryAssumptions& assumptions) {
  const std::vector<std::int64_t>& split = inputs.parallel.layers_per_part;
  const std::vector<double> before = needs_at(inputs, assumptions, split);
  std::vector<StageNeed> stages(split.size());
  for (const std::size_t start : {std::size_t{0}, std::size_t{1}}) {
    std::vector<std::int64_t> handed = split;
    for (std::size_t i = start; i + 1 < split.size(); i += 2) {
      --handed[i];
      ++handed[i + 1];
    }
    const std::vector<double> after = needs_at(inputs, assumptions, handed);
    for (std::size_t i = 0; i < split.size(); ++i) {
      if (handed[i] == split[i]) continue;
      stages[i].per_layer = std::max(1.0, (after[i] - before[i]) / static_cast<double>(handed[i] - split[i]));
      stages[i].fixed = before[i] - stages[i].per_layer * static_cast<double>(split[i]);
    }
  }
  return stages;
}

}  // namespace

std::vector<std::int64_t> spread_by_need(std::span<const StageNeed> stages, std::int64_t layers) {
  CHECK(layers >= static_cast<std::int64_t>(stages.size()), "every stage gets a layer");
  // One layer after another to whom it hurts least: the next layer never makes an earlier choice worse, since needs
  // only grow.
  std::vector<std::int64_t> split(stages.size(), 1);
  for (auto given = static_cast<std::int64_t>(stages.size()); given < layers; ++given) {
    const auto need_with_one_more = [&](std::size_t stage) {
      return stages[stage].fixed + stages[stage].per_layer * static_cast<double>(split[stage] + 1);
    };
    std::size_t least = 0;
    for (std::size_t stage = 1; stage < stages.size(); ++stage) {
      if (need_with_one_more(stage) < need_with_one_more(least)) least = stage;
    }
    ++split[least];
  }
  return split;
}

void balance_memory(ConfigMap& parallel, const ModelShape& shape, const TrainingOptions& training,
                    const MemoryAssumptions& assumptions, ParallelOptions& options) {
  if (options.stage_layers != StageLayers::kBalancedMemory || parallel.documenting()) return;
  const bool one_part_each = options.virtual_stages == 1 && options.placement == Placement::kLooped;
  if (!one_part_each || options.pp == 1 || shape.layers <= options.pp) return;  // refused, or nothing to choose
  options.layers_per_part = spread_by_need(
      measure_needs({.shape = shape, .training = training, .parallel = options}, assumptions), shape.layers);
  parallel.assume("layers_per_part", fmt::format("{}", fmt::join(options.layers_per_part, " ")),
                  "stage_layers: balanced-memory, by what stages need at their peak");
}

}  // namespace ringwright::workload
