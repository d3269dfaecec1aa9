#include "configs/scenario/mixed_balance.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "workload/layout/rank_layout.h"
#include "workload/layout/replica_microbatches.h"
#include "workload/layout/stage_balance.h"
#include "workload/memory/memory_balance.h"
#include "workload/memory/mixed_stages.h"

namespace ringwright::configs {
namespace {

using workload::LayerCosts;
using workload::ParallelOptions;
using workload::ReplicaTime;

double whole(const LayerCosts& costs) {
  return std::accumulate(costs.layers.begin(), costs.layers.end(), costs.first + costs.last);
}

// Which kinds of GPUs the ranks of a pipeline stage of a replica have.
class PlacedKinds {
 public:
  PlacedKinds(const Cluster& cluster, const ParallelOptions& parallel)
      : stages_(static_cast<std::size_t>(parallel.pp)),
        kinds_(stages_ * static_cast<std::size_t>(parallel.dp)) {
    const workload::RankLayout layout(parallel);
    const auto ranks = std::min<std::size_t>(layout.rank_count(), static_cast<std::size_t>(cluster.gpus()));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const workload::RankCoordinates at = layout.coordinates(RankId(rank));
      of(static_cast<std::size_t>(at.dp), static_cast<std::size_t>(at.pp)).insert(cluster.kind_of_rank(RankId(rank)));
    }
  }
  [[nodiscard]] std::set<int>& of(std::size_t replica, std::size_t stage) { return kinds_[replica * stages_ + stage]; }
  [[nodiscard]] const std::set<int>& of(std::size_t replica, std::size_t stage) const {
    return kinds_[replica * stages_ + stage];
  }
  [[nodiscard]] std::set<int> of_stage(std::size_t stage) const {
    std::set<int> all;
    for (std::size_t at = stage; at < kinds_.size(); at += stages_) all.insert(kinds_[at].begin(), kinds_[at].end());
    return all;
  }
  [[nodiscard]] std::size_t stages() const { return stages_; }
  [[nodiscard]] std::size_t replicas() const { return kinds_.size() / stages_; }

 private:
  std::size_t stages_;
  std::vector<std::set<int>> kinds_;  // by replica and stage
};

// The costs of the slowest of these kinds.
const LayerCosts& slowest(const std::set<int>& kinds, std::span<const LayerCosts> by_kind) {
  const LayerCosts* found = &by_kind.front();
  if (!kinds.empty()) found = &by_kind[static_cast<std::size_t>(*kinds.begin())];
  for (const int kind : kinds) {
    const LayerCosts& other = by_kind[static_cast<std::size_t>(kind)];
    if (whole(other) > whole(*found)) found = &other;
  }
  return *found;
}

void balance_layers(ConfigMap& parallel, const Cluster& cluster, const PlacedKinds& placed,
                    std::span<const LayerCosts> by_kind, Job& job) {
  std::vector<workload::StageGpu> stages;
  for (std::size_t stage = 0; stage < placed.stages(); ++stage) {
    const std::set<int> kinds = placed.of_stage(stage);
    Bytes smallest = cluster.gpu.memory;
    if (!kinds.empty()) smallest = cluster.gpu_of_kind(*kinds.begin()).memory;
    for (const int kind : kinds) smallest = std::min(smallest, cluster.gpu_of_kind(kind).memory);
    stages.push_back({.costs = slowest(kinds, by_kind), .capacity = smallest});
  }
  workload::balance_mixed_stages(parallel,
                                 {.shape = job.model, .training = job.training, .parallel = job.parallel}, job.memory,
                                 stages, job.parallel);
}

// Of a microbatch in each stage of a replica.
ReplicaTime time_of(const PlacedKinds& placed, std::size_t replica, std::span<const LayerCosts> by_kind,
                    const ParallelOptions& parallel) {
  std::vector<double> stages(placed.stages(), 0.0);
  std::size_t layer = 0;
  const std::size_t parts = parallel.layers_per_part.size();
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t stage = part % stages.size();
    const LayerCosts& costs = slowest(placed.of(replica, stage), by_kind);
    if (part == 0) stages[stage] += costs.first;
    if (part == parts - 1) stages[stage] += costs.last;
    for (std::int64_t i = 0; i < parallel.layers_per_part[part] && layer < costs.layers.size(); ++i) {
      stages[stage] += costs.layers[layer++];
    }
  }
  const double most = std::max(std::ranges::max(stages), 1e-12);
  return {.fill = std::accumulate(stages.begin(), stages.end(), 0.0) - most, .slowest = most};
}

// Otherwise check_precision has refused the GPU, and its kernels have no time.
bool computes(const workload::GpuSpec& gpu, const workload::TrainingOptions& training) {
  return gpu.peak_of(training.precision) > FlopRate(0.0) && gpu.peak_of(training.gemm_type()) > FlopRate(0.0);
}

}  // namespace

void balance_work(ConfigMap& parallel, const Cluster& cluster, Job& job, workload::KnownLayouts* known) {
  if (!job.parallel.meshes.empty()) return;  // every stage is listed
  if (parallel.any_errors()) return;         // a rank may have no heads, or no tokens
  const auto can = [&](const HostGroup& group) { return computes(group.gpu, job.training); };
  if (!parallel.documenting() && !(computes(cluster.gpu, job.training) && std::ranges::all_of(cluster.groups, can))) {
    return;
  }
  const workload::StepInputs inputs{.shape = job.model, .training = job.training, .parallel = job.parallel};
  const bool shares = job.parallel.microbatch_split == workload::MicrobatchSplit::kBalanced;
  if (!cluster.mixed()) {
    workload::balance_stages(parallel, job.model, job.training, *job.compute, job.parallel, known);
    workload::balance_memory(parallel, inputs, job.memory, {.compute = *job.compute, .capacity = cluster.gpu.memory},
                             job.parallel);
  }
  if (parallel.documenting() || (!cluster.mixed() && !shares)) return;
  std::vector<LayerCosts> by_kind;
  for (std::size_t kind = 0; kind < cluster.host.kinds(); ++kind) {
    by_kind.push_back(workload::layer_costs(job.model, job.training, job.parallel,
                                            job.compute->of_gpu(static_cast<int>(kind))));
  }
  const PlacedKinds placed(cluster, job.parallel);
  if (cluster.mixed()) balance_layers(parallel, cluster, placed, by_kind, job);
  if (!shares) return;
  std::vector<ReplicaTime> replicas;
  for (std::size_t replica = 0; replica < placed.replicas(); ++replica) {
    replicas.push_back(time_of(placed, replica, by_kind, job.parallel));
  }
  workload::balance_microbatches(parallel, replicas, job.training, job.parallel);
}

}  // namespace ringwright::configs
