#include "configs/scenario/recommendation_job.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/mixed_compute.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"
#include "workload/memory/memory.h"
#include "workload/recommendation/recommendation_config.h"

namespace ringwright::configs {
namespace {

void refuse_other_jobs(ConfigMap& root) {
  for (const std::string_view key : {"model", "training", "parallel", "workload"}) {
    if (!root.has(key)) continue;
    root.error(key, "E552",
               fmt::format("'{}' cannot be given together with 'recommendation', which is a job of its own", key),
               fmt::format("remove '{}', or 'recommendation'", key));
    root.ignore(key, "the job is a recommendation model");
  }
}

}  // namespace

Job read_recommendation_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks) {
  if (!root.documenting()) refuse_other_jobs(root);
  ConfigMap map = root.map("recommendation",
                           "a recommendation model (DLRM) to train, instead of model, training and parallel; `preset` "
                           "names a shipped one");
  Job job;
  if (cluster.mixed()) {
    map.error("", "E552", "a recommendation model needs GPUs of one kind, and the cluster has groups of several",
              "describe the hosts with cluster.nodes and cluster.node");
  }
  RecommendationJob& recommendation = job.recommendation.emplace();
  recommendation.model = workload::read_recommendation(map, {.gpu = cluster.gpu, .ranks = ranks});
  recommendation.placement =
      workload::place_tables(recommendation.model, {.ranks = ranks, .memory = cluster.gpu.memory});
  if (!root.documenting()) workload::check_balance(map, recommendation.placement);
  job.compute = read_compute(root, cluster);
  ConfigMap memory = root.map("memory", "GPU memory in use besides the tensors of the model");
  job.memory = workload::read_memory_assumptions(memory);
  return job;
}

std::string layout_text(const RecommendationJob& job) {
  std::int64_t placed = 0, split = 0, copied = 0;
  for (const workload::GroupPlacement& group : job.placement.groups) {
    placed += group.placed;
    split += group.row_wise;
    copied += group.replicated;
  }
  std::vector<std::string> parts;
  if (placed > 0) parts.push_back(fmt::format("{} tables or parts placed", placed));
  if (split > 0) parts.push_back(fmt::format("{} split by rows", split));
  if (copied > 0) parts.push_back(fmt::format("{} on every rank", copied));
  return join(parts, ", ");
}

}  // namespace ringwright::configs
