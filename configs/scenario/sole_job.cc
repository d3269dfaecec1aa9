#include "configs/scenario/sole_job.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "configs/scenario/mixed_compute.h"
#include "configs/scenario/scenario.h"
#include "workload/memory/memory.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 6> kBlocksOfSoleJob = {"model",    "training",       "parallel",
                                                              "workload", "recommendation", "layer_table"};

}  // namespace

void check_sole_job(ConfigMap& root, const SoleJob& own, const Cluster& cluster) {
  if (root.documenting()) return;
  for (const std::string_view key : kBlocksOfSoleJob) {
    if (key == own.key || !root.has(key)) continue;
    root.error(key, std::string(own.code),
               fmt::format("'{}' cannot be given together with '{}', which is a job of its own", key, own.key),
               fmt::format("remove '{}', or '{}'", key, own.key));
    root.ignore(key, fmt::format("the job is {}", own.what));
  }
  if (!cluster.mixed()) return;
  root.error(own.key, std::string(own.code),
             fmt::format("{} needs GPUs of one kind, and the cluster has groups of several", own.what),
             "describe the hosts with cluster.nodes and cluster.node");
}

void read_sole_hardware(ConfigMap& root, const Cluster& cluster, Job& job) {
  job.compute = read_compute(root, cluster);
  ConfigMap memory = root.map("memory", "GPU memory in use besides the tensors of the model");
  job.memory = workload::read_memory_assumptions(memory);
}

}  // namespace ringwright::configs
