// Reads a network of GPUs that ASTRA-sim's dimensions describe: as a list, or in ASTRA-sim's own file.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "network_models/host/host.h"
#include "network_models/topologies/dimensions/dimension_network.h"
#include "network_models/topologies/dimensions/network_file.h"
#include "network_models/topologies/fabric_limit.h"

namespace ringwright::network_models {
namespace {

constexpr const char* kDimensionsCode = "E129";
constexpr std::int64_t kMostNodes = 4'194'304;
constexpr std::array kBlockOptions = {
    Option{"ring", "both directions between neighbours; messages take the shorter one"},
    Option{"fully_connected", "a link for every ordered pair"},
    Option{"switch", "a link to the switch and one back for each"}};
constexpr std::array kBlocksInOrder = {AstraBlock::kRing, AstraBlock::kFullyConnected, AstraBlock::kSwitch};

AstraDimension read_dimension(ConfigMap& map) {
  AstraDimension dimension;
  const std::string block =
      map.choice({.name = "block", .doc = "how the nodes of a dimension are linked"}, kBlockOptions);
  for (std::size_t i = 0; i < kBlockOptions.size(); ++i) {
    if (kBlockOptions[i].name == block) dimension.block = kBlocksInOrder[i];
  }
  dimension.nodes = static_cast<std::uint32_t>(
      map.integer({.name = "nodes", .doc = "GPUs of one ring, switch or group", .min = 1, .max = kMostNodes}));
  dimension.gigabytes_per_second =
      map.bandwidth({.name = "bandwidth", .doc = "of a link, one direction"}).count() / kAstraGigabyte;
  dimension.latency_ns =
      static_cast<double>(
          map.duration({.name = "latency", .doc = "of a link", .fallback = Duration(0), .min = Duration(0)}).count()) /
      1000.0;
  return dimension;
}

void read_file(ConfigMap& fabric, AstraTopology& topology) {
  const auto file = fabric.file({.name = "network", .doc = "ASTRA-sim's network.yml, instead of `dimensions`"});
  if (!file) return;
  auto reading = read_astra_network(*file);
  const Diagnostics& found = reading ? reading->warnings : reading.error();
  for (const Diagnostic& d : found.all()) {
    const std::string message = fmt::format("{}:{}:{}: {}", d.place.file, d.place.line, d.place.column, d.message);
    if (d.severity == Severity::kWarning) {
      fabric.warn("network", d.code, message, d.hint);
    } else {
      fabric.error("network", d.code, message, d.hint);
    }
  }
  if (reading) topology = std::move(reading->value);
}

void check_size(ConfigMap& fabric, AstraTopology& topology, std::int64_t gpus) {
  double ranks = 1.0;
  double per_rank = 0.0;
  for (const AstraDimension& dimension : topology.dimensions) {
    ranks *= dimension.nodes;
    per_rank += dimension.block == AstraBlock::kFullyConnected ? (dimension.nodes - 1) / 2.0 : 1.0;
  }
  check_cables(fabric, "type", ranks * per_rank);
  if (ranks == static_cast<double>(gpus)) return;
  fabric.error("type", kDimensionsCode,
               fmt::format("the dimensions have {:.0f} GPUs ({}), and the nodes of the cluster {}", ranks,
                           topology.text(), gpus),
               fmt::format("cluster: {{nodes: {:.0f}, node: {{gpus: 1}}}}", ranks));
  topology = {};
}

}  // namespace

std::unique_ptr<Topology> read_dimensions(ConfigMap& fabric, const TopologyRequest& request) {
  DimensionPlan plan;
  if (fabric.documenting() || fabric.has("network")) read_file(fabric, plan.topology);
  if (fabric.documenting() || !fabric.has("network")) {
    for (ConfigMap& map : fabric.maps("dimensions", "ASTRA-sim's dimensions, the fastest-varying first")) {
      plan.topology.dimensions.push_back(read_dimension(map));
    }
  } else if (fabric.has("dimensions")) {
    fabric.error("dimensions", kDimensionsCode, "'dimensions' and 'network' are two descriptions of one network");
    fabric.ignore("dimensions", "the network is described twice");
  }
  const std::int64_t gpus = std::int64_t{request.hosts} * request.host.gpus;
  if (plan.topology.dimensions.empty() && !fabric.documenting()) {
    if (!fabric.has("network")) {
      fabric.error("type", kDimensionsCode, "'cluster.fabric' lists no dimensions",
                   "dimensions: [{block: ring, nodes: 8, bandwidth: 50GB/s, latency: 500ns}], or network: network.yml");
    }
  } else if (!fabric.documenting()) {
    check_size(fabric, plan.topology, gpus);
  }
  // After a mistake: what holds the GPUs.
  if (plan.topology.dimensions.empty()) plan.topology.dimensions = {{.block = AstraBlock::kSwitch, .nodes = 1}};
  plan.gpus_per_host = static_cast<std::uint32_t>(std::max(request.host.gpus, 1));
  return make_dimensions(std::move(plan));
}

}  // namespace ringwright::network_models
