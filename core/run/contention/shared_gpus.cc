#include "core/run/contention/shared_gpus.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ringwright {
namespace {

// By GPU: the ranks on it that have work.
std::vector<std::vector<RankId>> ranks_of_gpus(const TaskGraph& graph) {
  std::vector<std::vector<RankId>> ranks(graph.rank_count());
  for (std::size_t r = 0; r < graph.rank_count(); ++r) {
    const Program& program = graph.programs[graph.program_of[r].index()];
    if (!program.tasks.empty()) ranks[graph.sharing.gpu_of(RankId(r)).index()].emplace_back(r);
  }
  return ranks;
}

TenantLimits limits_of(const TaskGraph& graph, RankId rank) {
  const Program& program = graph.programs[graph.program_of[rank.index()].index()];
  return program.job < graph.jobs.size() ? graph.jobs[program.job].limits : TenantLimits();
}

}  // namespace

SharedGpus::SharedGpus(const TaskGraph& graph, const RankClasses& classes) {
  if (graph.sharing.kind == SharingKind::kNone) return;
  const std::vector<std::vector<RankId>> ranks = ranks_of_gpus(graph);
  std::map<std::vector<ClassId>, std::size_t> number_of;
  gpu_of_class_.assign(classes.count(), kWhole);
  for (std::size_t c = 0; c < classes.count(); ++c) {
    const RankId own = classes.representative[c];
    std::vector<std::pair<ClassId, TenantLimits>> found;
    for (const RankId rank : ranks[graph.sharing.gpu_of(own).index()]) {
      found.emplace_back(classes.class_of[rank.index()], limits_of(graph, rank));
    }
    if (found.empty() || (found.size() == 1 && found.front().second == TenantLimits())) continue;
    std::ranges::sort(found, {}, [](const auto& tenant) { return tenant.first; });
    SharedGpu gpu;
    for (const auto& [tenant, limits] : found) {
      gpu.tenants.push_back(tenant);
      gpu.limits.push_back(limits);
    }
    const auto [at, is_new] = number_of.try_emplace(gpu.tenants, gpus_.size());
    gpu_of_class_[c] = at->second;
    if (!is_new) continue;
    gpu.rule = make_sharing_rule(graph.sharing.kind);
    gpus_.push_back(std::move(gpu));
  }
}

}  // namespace ringwright
