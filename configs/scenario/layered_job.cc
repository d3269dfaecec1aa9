#include "configs/scenario/layered_job.h"

#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/mixed_compute.h"
#include "configs/scenario/scenario.h"
#include "workload/layered/layered_config.h"
#include "workload/layered/layered_step.h"
#include "workload/memory/memory.h"

namespace ringwright::configs {
namespace {

void refuse_jobs_next_to_layers(ConfigMap& root) {
  for (const std::string_view key : {"model", "training", "parallel", "workload", "recommendation"}) {
    if (!root.has(key)) continue;
    root.error(key, "E543",
               fmt::format("'{}' cannot be given together with 'layer_table', which is a job of its own", key),
               fmt::format("remove '{}', or 'layer_table'", key));
    root.ignore(key, "the job is a layer table");
  }
}

}  // namespace

Job read_layered_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks) {
  if (!root.documenting()) refuse_jobs_next_to_layers(root);
  ConfigMap map = root.map("layer_table",
                           "a network as a table of layers (ResNet, VGG) to train with data parallelism, instead of "
                           "model, training and parallel; `preset` names a shipped one");
  Job job;
  if (cluster.mixed()) {
    map.error("", "E543", "a layer table needs GPUs of one kind, and the cluster has groups of several",
              "describe the hosts with cluster.nodes and cluster.node");
  }
  job.layered = LayeredJob{.model = workload::read_layered(map, {.gpu = cluster.gpu, .ranks = ranks}), .ranks = ranks};
  job.compute = read_compute(root, cluster);
  ConfigMap memory = root.map("memory", "GPU memory in use besides the tensors of the model");
  job.memory = workload::read_memory_assumptions(memory);
  return job;
}

std::string layout_text(const LayeredJob& job) {
  if (job.ranks < 2) return "DP 1";
  const std::size_t buckets = workload::gradient_buckets(job.model).size();
  return fmt::format("DP {}, {} gradient bucket{}", job.ranks, buckets, buckets == 1 ? "" : "s");
}

}  // namespace ringwright::configs
