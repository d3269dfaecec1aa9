// Reads an explicit network: a file with its nodes and links, from GPU to GPU.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/config/input_file.h"
#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/imports/graph_file.h"
#include "network_models/topologies/central_router.h"
#include "network_models/topologies/graph/graph_router.h"

namespace ringwright::network_models {
namespace {

class ExplicitGraph final : public Topology {
 public:
  ExplicitGraph(Fabric fabric, const GraphRouter::Settings& settings)
      : fabric_(std::move(fabric)), settings_(settings) {}
  [[nodiscard]] Network build() const override {
    return with_central_routing({.fabric = fabric_, .router = std::make_unique<GraphRouter>(fabric_, settings_)},
                                settings_.routing);
  }
  void pass_through_host_memory(Bandwidth /*copies*/) override {}
  void leave_out_nvlink() override {}
  void leave_out_nics(const NicSets& /*sets*/) override {}

 private:
  Fabric fabric_;
  GraphRouter::Settings settings_;
};

void check_graph(ConfigMap& map, const Fabric& fabric, const TopologyRequest& request,
                 const GraphRouter::Settings& settings) {
  const std::size_t wanted = static_cast<std::size_t>(request.hosts) * static_cast<std::size_t>(request.host.gpus);
  if (fabric.gpus().size() != wanted) {
    map.error("file", "E123",
              fmt::format("the file has {} GPUs but 'cluster.nodes' {} with {} each makes {}", fabric.gpus().size(),
                          request.hosts, request.host.gpus, wanted));
    return;
  }
  const auto apart = GraphRouter(fabric, settings).unreachable(1);
  if (apart.empty()) return;
  map.error(
      "file", "E123",
      fmt::format("there is no path from {} to {}", fabric.name(fabric.gpus()[apart.front().first.index()]),
                  fabric.name(fabric.gpus()[apart.front().second.index()])),
      settings.transit == GpuTransit::kForbidden ? "'through_gpus: true' if bytes may pass through other GPUs" : "");
}

}  // namespace

std::unique_ptr<Topology> read_graph(ConfigMap& fabric, const TopologyRequest& request) {
  GraphRouter::Settings settings;
  const auto file = fabric.file(
      {.name = "file", .doc = "nodes and links: YAML, JSON, one a line, or a machine that TACCL profiled"});
  const bool through = fabric.boolean(
      {.name = "through_gpus", .doc = "whether paths may pass through other GPUs", .fallback = false});
  settings.transit = through ? GpuTransit::kAllowed : GpuTransit::kForbidden;
  settings.routing = read_routing(fabric);
  if (!file) return std::make_unique<ExplicitGraph>(Fabric(), settings);
  Result<Fabric> graph = read_graph_file(*file, request.hosts);
  if (!graph) {
    for (const Diagnostic& d : graph.error().all()) {
      const std::string where =
          d.place.line > 0 ? fmt::format("{}:{}:{}: ", d.place.file, d.place.line, d.place.column) : "";
      fabric.error("file", d.code, where + d.message, d.hint);
    }
    return std::make_unique<ExplicitGraph>(Fabric(), settings);
  }
  check_graph(fabric, *graph, request, settings);
  return std::make_unique<ExplicitGraph>(std::move(*graph), settings);
}

}  // namespace ringwright::network_models
