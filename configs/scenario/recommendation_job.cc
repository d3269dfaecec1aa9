#include "configs/scenario/recommendation_job.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/sole_job.h"
#include "core/base/text.h"
#include "workload/recommendation/recommendation_config.h"

namespace ringwright::configs {

Job read_recommendation_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks) {
  check_sole_job(root, {.key = "recommendation", .what = "a recommendation model", .code = "E552"}, cluster);
  ConfigMap map = root.map("recommendation",
                           "a recommendation model (DLRM) to train, instead of model, training and parallel; `preset` "
                           "names a shipped one");
  Job job;
  RecommendationJob& recommendation = job.recommendation.emplace();
  recommendation.model = workload::read_recommendation(map, {.gpu = cluster.gpu, .ranks = ranks});
  if (recommendation.model.cache.on() && cluster.fabric == "graph" && !root.documenting()) {
    map.error("cache", "E554", "rows of tables lie in host memory, and a fabric of type graph has none",
              "describe the hosts by cluster.node");
  }
  recommendation.placement =
      workload::place_tables(recommendation.model, {.ranks = ranks, .memory = cluster.gpu.memory});
  if (!root.documenting()) workload::check_balance(map, recommendation.placement);
  read_sole_hardware(root, cluster, job);
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
