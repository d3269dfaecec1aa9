#include "configs/scenario/layered_job.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/scenario/sole_job.h"
#include "workload/layered/layered_config.h"
#include "workload/layered/layered_step.h"
#include "workload/layered/server_options.h"

namespace ringwright::configs {

Job read_layered_job(ConfigMap root, const Cluster& cluster, const workload::LayeredLayout& all) {
  check_sole_job(root, {.key = "layer_table", .what = "a layer table", .code = "E543"}, cluster);
  ConfigMap map = root.map("layer_table",
                           "a network as a table of layers (ResNet, VGG) to train with data parallelism, instead of "
                           "model, training and parallel; `preset` names a shipped one");
  Job job;
  const std::optional<workload::LayeredLayout> read = workload::read_layered_layout(map, all);
  const workload::LayeredLayout& layout = read ? *read : all;
  const workload::LayeredMachine machine{
      .gpu = cluster.gpu, .ranks = layout.workers(), .ranks_known = read.has_value()};
  job.layered = LayeredJob{.model = workload::read_layered(map, machine), .layout = layout};
  read_sole_hardware(root, cluster, job);
  return job;
}

void check_server_rung(ConfigMap root, const Scenario& scenario) {
  const bool serves = scenario.job.layered && scenario.job.layered->layout.servers.count > 0;
  if (!serves || scenario.collectives.rung != collectives::Rung::kChunks) return;
  root.map("collectives", "which algorithms carry out collectives")
      .error("model", "E549", "'chunks' simulates NCCL's kernels, and parameter servers exchange messages of their own",
             "take 'collectives.model: steps'");
}

std::string layout_text(const LayeredJob& job) {
  const workload::LayeredLayout& layout = job.layout;
  if (layout.ranks < 2) return "DP 1";
  const auto counted = [](std::int64_t count, std::string_view what) {
    return fmt::format(", {} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = fmt::format("DP {}", layout.workers());
  const bool dedicated = layout.servers.dedicated;
  if (layout.servers.count > 0) {
    text += counted(layout.servers.count, dedicated ? "dedicated parameter server" : "colocated parameter server");
  }
  return text + counted(static_cast<std::int64_t>(workload::gradient_buckets(job.model).size()), "gradient bucket");
}

}  // namespace ringwright::configs
