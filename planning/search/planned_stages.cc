#include "planning/search/planned_stages.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/simulation.h"
#include "workload/layout/stage_balance.h"

namespace ringwright::planning {
namespace {

// Context, communicators, logits and what else is not counted by layer.
constexpr double kShareOfModel = 0.9;

Bytes item_of(const MemoryRow& row, std::string_view name) {
  const auto found = std::ranges::find(row.items, name, &MemoryItem::name);
  return found == row.items.end() ? Bytes(0) : found->size;
}

// From a job without pipeline that has one microbatch, all of whose layers are on every rank.
class LayerMeter {
 public:
  LayerMeter(const StagePlanInputs& inputs, const Layout& layout) : inputs_(inputs), layout_(layout) {}

  // Null: it cannot be simulated.
  [[nodiscard]] const MeshCosts* measure(std::int64_t tp, std::int64_t sequences) {
    auto known = known_.find({tp, sequences});
    if (known == known_.end()) known = known_.emplace(std::pair(tp, sequences), find(tp, sequences)).first;
    return known->second ? &*known->second : nullptr;
  }

 private:
  [[nodiscard]] std::optional<MeshCosts> find(std::int64_t tp, std::int64_t sequences) {
    const std::int64_t gpus = inputs_.base.cluster.gpus();
    if (gpus % tp != 0) return std::nullopt;
    Layout alone = layout_;
    alone.tp = tp;
    alone.pp = 1;
    alone.micro_batch = sequences;
    alone.stage_layers = "even";
    alone.schedule = "1f1b";
    ConfigChanges changes = inputs_.space.changes(alone);
    changes.settings.push_back(fmt::format("training.global_batch={}", sequences * (gpus / tp)));
    auto changed = changed_job(inputs_.base, changes);
    if (!changed) return std::nullopt;
    inputs_.mine.job = std::move(changed->job);
    inputs_.mine.simulate = changed->simulate;
    return costs_of(gpus / tp);
  }

  [[nodiscard]] std::optional<MeshCosts> costs_of(std::int64_t replicas) {
    const configs::Job& job = inputs_.mine.job;
    const auto predicted = inputs_.planner.predict(inputs_.mine);
    if (!predicted || !*predicted) return std::nullopt;
    const std::vector<MemoryRow> rows = memory_rows(inputs_.mine);
    const MemoryRow& row = rows.front();
    const auto layers = job.model.layers;
    MeshCosts costs{.seconds = workload::layer_costs(job.model, job.training, job.parallel, *job.compute)};
    const auto per_layer = [layers](Bytes all) { return Bytes(all.count() / layers); };
    const bool shards = job.parallel.zero_stage >= 1;
    costs.state = per_layer(item_of(row, "weights") + item_of(row, "gradients"));
    (shards ? costs.shared_state : costs.state) +=
        per_layer(item_of(row, "optimizer") * (shards ? replicas : std::int64_t{1}));
    costs.activations = per_layer(item_of(row, "layer activations"));
    for (const DimensionTime& dimension : (*predicted)->everywhere.dimensions) {
      if (dimension.name != "tp") continue;
      for (double& seconds : costs.seconds.layers) {
        seconds += to_seconds(dimension.exposed) / static_cast<double>(layers);
      }
    }
    return costs;
  }

  const StagePlanInputs& inputs_;
  const Layout& layout_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::optional<MeshCosts>> known_;
};

}  // namespace

std::vector<Layout> with_planned_stages(const StagePlanInputs& inputs, const Layout& layout) {
  LayerMeter meter(inputs, layout);
  const MeshProblem problem{.layers = inputs.base.job.model.layers,
                            .ranks = inputs.base.cluster.gpus(),
                            .global_batch = inputs.base.job.training.global_batch,
                            .micro_batch = layout.micro_batch,
                            .tensor_sizes = inputs.space.tensor_sizes(),
                            .memory = scale(inputs.capacity, kShareOfModel)};
  std::vector<Layout> layouts;
  for (const MeshPlan& plan :
       mesh_plans(problem, [&](std::int64_t tp, std::int64_t sequences) { return meter.measure(tp, sequences); })) {
    if (!inputs.space.allows_stages(plan.stages.size())) continue;
    Layout planned = layout;
    planned.pp = static_cast<std::int64_t>(plan.stages.size());
    planned.tp = std::ranges::max_element(plan.stages, {}, &workload::StageMesh::tp)->tp;
    planned.stages = to_setting(plan.stages);
    layouts.push_back(std::move(planned));
  }
  return layouts;
}

}  // namespace ringwright::planning
