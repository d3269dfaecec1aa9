#include "workload/memory/memory_balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "workload/layout/stage_balance.h"

namespace ringwright::workload {

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

// The slope of every stage: neighbours exchange a layer, twice, so that with an odd number of stages the last one is
// included.
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

namespace {

// The most layers of each stage, for a given limit of a microbatch's time in it.
std::vector<std::int64_t> most_layers(std::span<const StageNeed> stages, const StageLimits& limits, double seconds) {
  constexpr double kRounding = 1e-9;
  std::vector<std::int64_t> most;
  for (const StageNeed& stage : stages) {
    const double fits = (limits.need - stage.fixed) / stage.per_layer;
    const double in_time = (seconds - stage.seconds) / limits.layer_seconds + kRounding;
    most.push_back(static_cast<std::int64_t>(std::floor(std::clamp(std::min(fits, in_time), 0.0, 1e9))));
  }
  return most;
}

// Greedy: each layer goes to the stage with the least resulting need; later layers never invalidate an earlier choice,
// since needs only grow. The stages can hold all layers, and at least one each.
std::vector<std::int64_t> spread_under(std::span<const StageNeed> stages, std::int64_t layers,
                                       const std::vector<std::int64_t>& most) {
  std::vector<std::int64_t> split(stages.size(), 1);
  for (auto given = static_cast<std::int64_t>(stages.size()); given < layers; ++given) {
    const auto need_with_one_more = [&](std::size_t stage) {
      return stages[stage].fixed + stages[stage].per_layer * static_cast<double>(split[stage] + 1);
    };
    std::optional<std::size_t> least;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      if (split[stage] == most[stage]) continue;
      if (!least || need_with_one_more(stage) < need_with_one_more(*least)) least = stage;
    }
    CHECK(least.has_value(), "some stage takes the next layer");
    ++split[*least];
  }
  return split;
}

bool hold(const std::vector<std::int64_t>& most, std::int64_t layers) {
  return std::ranges::min(most) >= 1 && std::accumulate(most.begin(), most.end(), std::int64_t{0}) >= layers;
}

}  // namespace

std::vector<std::int64_t> spread_by_need(std::span<const StageNeed> stages, std::int64_t layers) {
  CHECK(layers >= static_cast<std::int64_t>(stages.size()), "every stage gets a layer");
  return spread_under(stages, layers, std::vector<std::int64_t>(stages.size(), layers));
}

std::optional<std::vector<std::int64_t>> spread_in_time(std::span<const StageNeed> stages, std::int64_t layers,
                                                        const StageLimits& limits) {
  std::vector<double> times;  // of a stage by number of layers
  for (const StageNeed& stage : stages) {
    for (std::int64_t held = 1; held <= layers; ++held) {
      times.push_back(stage.seconds + limits.layer_seconds * static_cast<double>(held));
    }
  }
  std::ranges::sort(times);
  const auto enough = std::ranges::partition_point(
      times, [&](double seconds) { return !hold(most_layers(stages, limits, seconds), layers); });
  if (enough == times.end()) return std::nullopt;
  return spread_under(stages, layers, most_layers(stages, limits, *enough));
}

void balance_memory(ConfigMap& parallel, const StepInputs& inputs, const MemoryAssumptions& assumptions,
                    const BalanceGoal& goal, ParallelOptions& options) {
  if (options.stage_layers != StageLayers::kBalancedMemory || parallel.documenting()) return;
  const std::int64_t layers = inputs.shape.layers;
  const bool one_part_each = options.virtual_stages == 1 && options.placement == Placement::kLooped;
  if (!one_part_each || options.pp == 1 || layers <= options.pp) return;  // invalid, or nothing to choose
  std::vector<StageNeed> stages = measure_needs(inputs, assumptions);
  const LayerCosts costs = layer_costs(inputs.shape, inputs.training, inputs.parallel, goal.compute);
  stages.front().seconds = costs.first;
  stages.back().seconds = costs.last;
  const double mean =
      std::accumulate(costs.layers.begin(), costs.layers.end(), 0.0) / static_cast<double>(costs.layers.size());
  StageLimits limits{.need = static_cast<double>(goal.capacity.count()), .layer_seconds = std::max(mean, 1e-12)};
  auto split = spread_in_time(stages, layers, limits);
  // If needs are not proportional, the split is checked against the ledger, and the limit lowered by the excess.
  constexpr int kTries = 4;
  for (int tried = 0; split && tried < kTries; ++tried) {
    const double most = std::ranges::max(needs_at(inputs, assumptions, *split));
    if (most <= static_cast<double>(goal.capacity.count())) break;
    limits.need -= most - static_cast<double>(goal.capacity.count());
    split = spread_in_time(stages, layers, limits);
  }
  options.layers_per_part = split ? *split : spread_by_need(stages, layers);
  parallel.assume("layers_per_part", fmt::format("{}", fmt::join(options.layers_per_part, " ")),
                  split ? "stage_layers: balanced-memory, the fastest split that fits"
                        : "stage_layers: balanced-memory; no split fits: the largest need of a stage is minimal");
}

}  // namespace ringwright::workload
