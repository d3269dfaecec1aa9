#include "configs/scenario/dimension_rung.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "network_models/topologies/dimensions/dimension_network.h"
#include "network_models/topologies/dimensions/seen_dimensions.h"

namespace ringwright::configs {
namespace {

using network_models::AstraTopology;

constexpr const char* kDimensionCode = "E129";
constexpr std::string_view kSimulateDoc = "what is simulated, and with which models";

std::string described(const AstraTopology& topology) {
  std::string text;
  for (const network_models::AstraDimension& dimension : topology.dimensions) {
    text += fmt::format("{}{} {} with links of {} and {}", text.empty() ? "" : " x ", to_string(dimension.block),
                        dimension.nodes, to_string(Bandwidth(dimension.link().bytes_per_ns * 1e9)),
                        to_string(from_seconds(dimension.latency_ns * 1e-9)));
  }
  return text;
}

}  // namespace

void see_in_dimensions(ConfigMap root, const SimulateSettings& simulate, Cluster& cluster) {
  const network_models::ModelEntry& model = *simulate.network;
  if (!model.in_dimensions || root.documenting()) return;
  ConfigMap map = root.map("simulate", kSimulateDoc);
  const auto seen = network_models::see_dimensions(
      {.topology = *cluster.topology, .host = cluster.host, .hosts = static_cast<std::uint32_t>(cluster.hosts)});
  if (!seen) {
    map.error(
        "network", kDimensionCode,
        fmt::format("'{}' sees a cluster as ASTRA-sim's dimensions, and this is none: {}", model.name, seen.error()),
        "describe it: cluster.fabric: {type: astra, dimensions: [...]}");
    return;
  }
  const std::string problem = model.shares_links ? seen->problem_with_congestion() : "";
  if (!problem.empty()) {
    map.error("network", kDimensionCode, problem, "simulate.network: astra_unaware");
    return;
  }
  if (cluster.topology->dimensions() == nullptr) {
    map.assume("network", fmt::format("{} on {}", model.name, described(*seen)),
               "what the routes of the described cluster are in ASTRA-sim's dimensions");
  }
  cluster.topology = network_models::make_dimensions({.topology = *seen,
                                                      .crossed = network_models::CrossedDimensions::kFirst,
                                                      .gpus_per_host = static_cast<std::uint32_t>(cluster.host.gpus)});
}

void check_paths_to_memory(ConfigMap root, const Scenario& scenario) {
  const network_models::ModelEntry& model = *scenario.simulate.network;
  const bool described = scenario.cluster.topology->dimensions() != nullptr;
  if ((!model.in_dimensions && !described) || root.documenting()) return;
  const Job& job = scenario.job;
  const bool serves = job.layered && job.layered->layout.servers.count > 0;
  const bool replays = job.trace && std::ranges::any_of(job.trace->graph.messages, [](const MessageSpec& message) {
                         return message.path != DmaPath::kNone;
                       });
  const bool moves = job.parallel.offload.any() || serves || replays;
  if (!moves && !scenario.checkpoint) return;
  root.map("simulate", kSimulateDoc)
      .error("network", kDimensionCode,
             fmt::format("{} crosses host memory, and ASTRA-sim's dimensions join GPUs only",
                         scenario.checkpoint ? "a checkpoint that is saved in the step" : "what is moved off the GPUs"),
             "simulate.network: flow, on a cluster with hosts");
}

}  // namespace ringwright::configs
