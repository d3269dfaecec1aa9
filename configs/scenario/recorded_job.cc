#include "configs/scenario/recorded_job.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

// Recorded work is as long as it is; nothing is asked.
class RecordedCompute final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& /*kernel*/) const override { return {}; }
};

}  // namespace

Job read_recorded_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks, Diagnostics& foreign) {
  Job job;
  for (const std::string_view key : {"model", "training", "parallel"}) {
    if (!root.has(key)) continue;
    root.error(key, "E254",
               fmt::format("'{}' cannot be given together with 'workload', which replays a recorded step", key),
               fmt::format("remove '{}', or 'workload'", key));
    root.ignore(key, "the step is recorded");
  }
  for (const std::string_view key : {"compute", "memory"}) {
    if (root.has(key)) root.ignore(key, "the step is recorded: 'workload.compute' says how long computing takes");
  }
  ConfigMap map = root.map("workload", "a recorded step to replay, instead of model, training and parallel");
  job.trace = read_trace_job(
      map, {.gpu = cluster.gpu, .ranks = ranks, .gpus_per_host = cluster.host.gpus}, foreign);
  const auto copies = [](const MessageSpec& message) { return message.path != DmaPath::kNone; };
  if (cluster.fabric == "graph" && std::ranges::any_of(job.trace->graph.messages, copies)) {
    map.error("chakra", "E251",
              "MEM_LOAD and MEM_STORE need hosts as cluster.node describes them, not a fabric of type "
              "graph");
  }
  job.compute = std::make_unique<RecordedCompute>();
  return job;
}

}  // namespace ringwright::configs
