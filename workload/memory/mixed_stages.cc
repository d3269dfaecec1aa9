#include "workload/memory/mixed_stages.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/memory/memory_balance.h"

namespace ringwright::workload {
namespace {

using StageSplit = std::vector<std::int64_t>;

double bytes_of(Bytes size) { return static_cast<double>(size.count()); }

// Every stage one layer or more, as even as possible: where needs are measured.
StageSplit even_split(std::int64_t layers, std::size_t stages) {
  const auto count = static_cast<std::int64_t>(stages);
  StageSplit split(stages, layers / count);
  for (std::int64_t i = 0; i < layers % count; ++i) ++split[static_cast<std::size_t>(i)];
  return split;
}

// The most layers of every stage that its memory holds.
StageSplit room_of(const StepInputs& inputs, const MemoryAssumptions& assumptions, std::span<const StageGpu> stages) {
  ParallelOptions parallel = inputs.parallel;
  parallel.layers_per_part = even_split(inputs.shape.layers, stages.size());
  const std::vector<StageNeed> needs =
      measure_needs({.shape = inputs.shape, .training = inputs.training, .parallel = parallel}, assumptions);
  StageSplit most;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const double fits = (bytes_of(stages[stage].capacity) - needs[stage].fixed) / needs[stage].per_layer;
    most.push_back(static_cast<std::int64_t>(std::floor(std::clamp(fits, 0.0, 1e9))));
  }
  return most;
}

// Slopes are measured at one split: stages that exceed their memory at another one get less room.
std::optional<StageSplit> fastest_that_fits(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                                       std::span<const StageGpu> stages, std::span<const LayerCosts> costs) {
  constexpr int kTries = 32;
  StageSplit most = room_of(inputs, assumptions, stages);
  for (int tried = 0; tried < kTries; ++tried) {
    std::optional<StageSplit> split = balance_layers_on(costs, most);
    if (!split) return std::nullopt;
    const std::vector<double> needs = needs_at(inputs, assumptions, *split);
    bool fits = true;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      if (needs[stage] <= bytes_of(stages[stage].capacity)) continue;
      fits = false;
      most[stage] = std::max<std::int64_t>(0, (*split)[stage] - 1);
    }
    if (fits) return split;
  }
  return std::nullopt;
}

}  // namespace

void balance_mixed_stages(ConfigMap& parallel, const StepInputs& inputs, const MemoryAssumptions& assumptions,
                          std::span<const StageGpu> stages, ParallelOptions& options) {
  const bool wanted =
      options.stage_layers == StageLayers::kBalanced || options.stage_layers == StageLayers::kBalancedMemory;
  if (!wanted || parallel.documenting()) return;
  const bool looped = options.placement == Placement::kLooped;
  std::vector<LayerCosts> costs;
  for (std::size_t part = 0; part < static_cast<std::size_t>(options.parts()); ++part) {
    costs.push_back(stages[looped ? part % stages.size() : 0].costs);
  }
  const bool one_part_each = options.virtual_stages == 1 && looped;
  const bool chooses = one_part_each && options.pp > 1 && inputs.shape.layers > options.pp;
  std::optional<StageSplit> split;
  if (chooses) split = fastest_that_fits(inputs, assumptions, stages, costs);
  std::string_view why = "by the modelled time of layers on each stage's GPUs, within their memory";
  if (!split) {
    split = balance_layers_on(costs, {});
    why = chooses ? "by the modelled time of layers on each stage's GPUs; no split fits into their memory"
                  : "by the modelled time of layers on each stage's GPUs; memory is not considered";
  }
  options.layers_per_part = *split;
  parallel.assume("layers_per_part", fmt::format("{}", fmt::join(options.layers_per_part, " ")),
                  fmt::format("stage_layers: balanced, {}", why));
}

}  // namespace ringwright::workload
