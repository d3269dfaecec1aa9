#include "configs/simulation/least_calls.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "configs/simulation/rank_positions.h"
#include "workload/parallel/step_streams.h"

namespace ringwright::configs {
namespace {

// All that workload::make_streams depends on, besides the model.
std::vector<std::int64_t> sizes_of(const Job& job) {
  const workload::ParallelOptions& parallel = job.parallel;
  const workload::ExpertOptions& experts = parallel.experts;
  const workload::ShardingOptions& sharding = parallel.sharding;
  return {parallel.tp, parallel.cp, parallel.dp, parallel.pp, parallel.ulysses, parallel.workers,
          static_cast<std::int64_t>(parallel.context_exchange), static_cast<std::int64_t>(parallel.placement),
          parallel.flushes() ? 1 : 0, experts.ep, experts.etp, experts.inner(),
          static_cast<std::int64_t>(experts.dispatcher), parallel.expert_replicas(), job.model.experts ? 1 : 0,
          workload::shares_embedding(job.model, parallel) ? 1 : 0, sharding.parameters ? 1 : 0, sharding.shard,
          sharding.secondary, sharding.node, sharding.quantized_gradients ? 1 : 0,
          parallel.shards_experts_apart() ? 1 : 0};
}

// Groups follow from few sizes.
bool has_plain_groups(const workload::ParallelOptions& parallel) {
  return parallel.meshes.empty() && !parallel.offload.any();
}

}  // namespace

bool LeastCalls::is_formula() const {
  const Faults& faults = machine_.faults;
  const bool whole = faults.links.empty() && faults.nics_to_plan_around.empty() && faults.nic_share_of_host.empty();
  return machine_.collectives.rung == collectives::Rung::kClosedForm && !machine_.cluster.mixed() && whole;
}

workload::LeastCallTime LeastCalls::of(const Job& job) {
  if (!is_formula() || !job.trains_transformer() || !has_plain_groups(job.parallel) || job.training.local_sgd.on()) {
    return {};
  }
  Groups& groups = groups_of(job);
  return [&groups](DimensionId dimension, const CollectiveSpec& spec) { return time(groups, dimension, spec); };
}

LeastCalls::Groups& LeastCalls::groups_of(const Job& job) {
  std::unique_ptr<Groups>& groups = groups_[sizes_of(job)];
  if (groups != nullptr) return *groups;
  if (network_ == nullptr) network_ = std::make_unique<network_models::Network>(machine_.cluster.topology->build());
  groups = std::make_unique<Groups>();
  TaskGraph& graph = groups->graph;
  graph.dimensions = workload::make_streams(job.model, job.parallel).dimensions;
  const auto ranks = static_cast<std::size_t>(machine_.cluster.gpus());
  graph.programs.emplace_back();
  graph.program_of.assign(ranks, ProgramId(0));
  lay_out_groups(graph, place_ranks(ranks, machine_.cluster.host.gpus, machine_.cluster.nic_set_of_host));
  groups->choices = std::make_unique<CollectiveChoices>(machine_, graph, &known_.graphs());
  groups->rung = std::make_unique<CollectiveRung>(CollectiveRung::Inputs{.scenario = machine_,
                                                                         .graph = graph,
                                                                         .network = *network_,
                                                                         .choices = *groups->choices,
                                                                         .known = &known_});
  for (const Dimension& dimension : graph.dimensions) {
    std::vector<const GroupLayout*>& layouts = groups->layouts.emplace_back();
    std::vector<bool> seen(graph.layouts.size(), false);
    for (const std::uint32_t layout : dimension.layout_of_group) {
      if (!seen[layout]) layouts.push_back(&graph.layouts[layout]);
      seen[layout] = true;
    }
  }
  return *groups;
}

Duration LeastCalls::time(Groups& groups, DimensionId dimension, const CollectiveSpec& spec) {
  if (spec.bytes == Bytes(0)) return {};
  const auto [known, is_new] = groups.times.try_emplace({dimension, spec.kind, spec.bytes});
  if (!is_new) return known->second;
  std::optional<Duration> least;
  for (const GroupLayout* const layout : groups.layouts[dimension.index()]) {
    const CollectiveCall call{.kind = spec.kind, .bytes = spec.bytes, .layout = layout, .dimension = dimension};
    if (!groups.choices->steps().check(call).empty()) return {};  // refused where it is planned
    const CollectiveTime& times = layout->host_count() == 1 ? *groups.rung->time() : *groups.rung->formula();
    const Duration own = times.time(call);
    least = std::min(least.value_or(own), own);
  }
  return known->second = least.value_or(Duration());
}

}  // namespace ringwright::configs
