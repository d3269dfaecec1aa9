#include "configs/scenario/recommendation_job.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/sole_job.h"
#include "core/base/text.h"
#include "workload/recommendation/recommendation_config.h"

namespace ringwright::configs {

namespace {

// Ranks fill hosts one after another; a fabric of type graph has none.
workload::PlacementMachine machine_of(const Cluster& cluster, std::int64_t ranks) {
  workload::PlacementMachine machine{.ranks = ranks, .ranks_of_host = 1, .memory = cluster.gpu.memory};
  const std::int64_t of_host = cluster.host.gpus;
  if (cluster.fabric != "graph" && of_host > 0 && ranks % of_host == 0) machine.ranks_of_host = of_host;
  const double memory = cluster.gpu.memory_bandwidth.count();
  const network_models::Host& host = cluster.host;
  const double gpus = static_cast<double>(std::max<std::int64_t>(of_host, 1));
  const double network = host.nic.data_rate().count() * host.nic.count / gpus;
  const double link = host.nvlink.kind == network_models::ScaleUp::kNone ? host.pcie.gpu_bandwidth.count()
                                                                         : host.nvlink.data_rate().count();
  if (network > 0.0) machine.memory_per_network = memory / network;
  if (link > 0.0) machine.memory_per_link = memory / link;
  return machine;
}

}  // namespace

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
  recommendation.placement = workload::place_tables(recommendation.model, machine_of(cluster, ranks));
  if (!root.documenting()) workload::check_balance(map, recommendation.placement);
  read_sole_hardware(root, cluster, job);
  return job;
}

std::string layout_text(const RecommendationJob& job) {
  std::int64_t placed = 0, split = 0, on_hosts = 0, copied = 0;
  for (const workload::GroupPlacement& group : job.placement.groups) {
    placed += group.placed;
    split += group.row_wise;
    on_hosts += group.host_wise;
    copied += group.replicated;
  }
  std::vector<std::string> parts;
  if (placed > 0) parts.push_back(fmt::format("{} tables or parts placed", placed));
  if (split > 0) parts.push_back(fmt::format("{} split by rows", split));
  if (on_hosts > 0) {
    const bool share = job.placement.ranks_of_host > 1;
    parts.push_back(fmt::format("{} {}", on_hosts, share ? "split by rows within hosts" : "whole or in parts of rows"));
  }
  if (copied > 0) parts.push_back(fmt::format("{} on every rank", copied));
  return join(parts, ", ");
}

}  // namespace ringwright::configs
