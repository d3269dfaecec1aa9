#include "configs/scenario/layered_job.h"

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/sole_job.h"
#include "workload/layered/layered_config.h"
#include "workload/layered/layered_step.h"

namespace ringwright::configs {

Job read_layered_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks) {
  check_sole_job(root, {.key = "layer_table", .what = "a layer table", .code = "E543"}, cluster);
  ConfigMap map = root.map("layer_table",
                           "a network as a table of layers (ResNet, VGG) to train with data parallelism, instead of "
                           "model, training and parallel; `preset` names a shipped one");
  Job job;
  job.layered = LayeredJob{.model = workload::read_layered(map, {.gpu = cluster.gpu, .ranks = ranks}), .ranks = ranks};
  read_sole_hardware(root, cluster, job);
  return job;
}

std::string layout_text(const LayeredJob& job) {
  if (job.ranks < 2) return "DP 1";
  const std::size_t buckets = workload::gradient_buckets(job.model).size();
  return fmt::format("DP {}, {} gradient bucket{}", job.ranks, buckets, buckets == 1 ? "" : "s");
}

}  // namespace ringwright::configs
