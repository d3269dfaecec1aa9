// Reads a dragonfly or a dragonfly+: groups, switches, links inside groups and between them, path selection.
#include "network_models/topologies/dragonfly/dragonfly.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "network_models/topologies/fabric_limit.h"

namespace ringwright::network_models {

std::unique_ptr<Topology> read_dragonfly(ConfigMap& fabric, const TopologyRequest& request);
std::unique_ptr<Topology> read_dragonfly_plus(ConfigMap& fabric, const TopologyRequest& request);

namespace {

using namespace ringwright::literals;

constexpr std::int64_t kMost = 4096;

class Dragonfly final : public Topology {
 public:
  explicit Dragonfly(DragonflyPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Network build() const override { return build_dragonfly(plan_); }
  void pass_through_host_memory(Bandwidth copies) override { plan_.host.pass_through_memory(copies); }
  void leave_out_nvlink() override { plan_.host.leave_out_nvlink(); }
  void leave_out_nics(const NicSets& sets) override { plan_.host.nic_sets = sets; }

 private:
  DragonflyPlan plan_;
};

std::uint32_t count(ConfigMap& map, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return static_cast<std::uint32_t>(
      map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 1, .max = kMost}));
}

DragonflyRouting read_paths(ConfigMap& fabric) {
  constexpr std::array kPaths = {
      Option{"minimal", "at most one link between groups"},
      Option{"valiant", "over a hashed third group"},
      Option{"adaptive", "a fixed fraction minimally and the rest over third groups: UGAL under steady load"},
  };
  DragonflyRouting routing;
  ConfigMap map = fabric.map("routing", "which of several paths a transfer takes");
  const std::string paths =
      map.choice({.name = "paths", .doc = "which paths between groups exist", .fallback = "minimal"}, kPaths);
  if (paths == "valiant") routing.paths = DragonflyPaths::kValiant;
  if (paths == "adaptive") routing.paths = DragonflyPaths::kAdaptive;
  const bool adaptive = routing.paths == DragonflyPaths::kAdaptive;
  if (adaptive && !map.documenting() && !map.has("minimal")) {
    map.assume("minimal", "50%", "UGAL's split depends on the load");
  }
  if (adaptive || map.documenting() || map.has("minimal")) {
    routing.minimal_share = map.percent({.name = "minimal",
                                         .doc = "adaptive: the fraction of the bytes on minimal paths",
                                         .fallback = 0.5,
                                         .min = 0.0,
                                         .max = 1.0});
  }
  if (!adaptive && map.has("minimal")) {
    map.error("minimal", "E120", fmt::format("'{}' is only for 'paths: adaptive'", map.path_of("minimal")));
  }
  routing.among = read_routing(fabric);
  if (routing.among.policy == RoutingPolicy::kDModK) {
    map.error("policy", "E120", "a dragonfly has no rails to distinguish: 'policy' is static, ecmp or spray here");
  }
  if (routing.paths != DragonflyPaths::kMinimal && routing.among.policy == RoutingPolicy::kSpray) {
    map.error("policy", "E120",
              fmt::format("'policy: spray' is for 'paths: minimal'; over third groups paths are hashed"),
              "use `policy: ecmp` with `queue_pairs`");
  }
  return routing;
}

double cables(const DragonflyShape& shape) {
  const double groups = shape.groups;
  const double leaves = shape.leaves;
  const double inside = shape.spines > 0 ? leaves * shape.spines : leaves * (leaves - 1.0) / 2.0;
  return groups * inside * shape.local_links + groups * (groups - 1.0) / 2.0 * shape.global_links;
}

void check_size(ConfigMap& fabric, const TopologyRequest& request, const DragonflyShape& shape) {
  check_cables(fabric, fabric.has("groups") ? "groups" : "switches", cables(shape));
  if (!request.host.every_kind_has_nics() && request.hosts > 1) {
    fabric.error("type", "E120", "a dragonfly of nodes needs NICs but 'cluster.node.nic.count' is 0");
  }
  const std::uint64_t room = std::uint64_t{shape.groups} * shape.leaves * shape.per_switch;
  if (room >= shape.hosts) return;
  fabric.error("groups", "E120",
               fmt::format("{} groups of {} switches with {} nodes each hold {} nodes but 'cluster.nodes' is {}",
                           shape.groups, shape.leaves, shape.per_switch, room, shape.hosts),
               "leave 'groups' out to build as many as needed");
}

enum class Kind : std::uint8_t { kPlain, kPlus };

std::unique_ptr<Topology> read(ConfigMap& fabric, const TopologyRequest& request, Kind kind) {
  DragonflyPlan plan{.host = request.host, .shape = {}, .routing = {}};
  DragonflyShape& shape = plan.shape;
  shape.hosts = static_cast<std::uint32_t>(request.hosts);
  shape.leaves = count(fabric, "switches", "of a group with nodes", 8);
  shape.per_switch = count(fabric, "nodes_per_switch", "nodes with all their NICs on one switch", 4);
  if (kind == Kind::kPlus) {
    shape.spines = count(fabric, "spines", "of a group; each is connected to all its leaves, and to other groups",
                         std::int64_t{shape.leaves});
  }
  const std::uint32_t per_group = shape.leaves * shape.per_switch;
  const auto groups = fabric.integer_or(
      {.name = "groups", .doc = "of the machine; auto: as many as its nodes fill", .min = 1, .max = kMost}, "auto");
  shape.groups = groups ? static_cast<std::uint32_t>(*groups) : (shape.hosts + per_group - 1) / per_group;
  ConfigMap local = fabric.map("local", "links inside a group");
  shape.local_links = count(local, "links", "parallel, between two connected switches", 1);
  shape.local_speed =
      local.bandwidth({.name = "speed", .doc = "of one link, one direction", .fallback = request.host.fastest_nic(),
                       .usual = "that of a NIC"});
  if (!fabric.documenting() && kind == Kind::kPlain && shape.leaves == 1) {
    for (const std::string_view key : {"links", "speed"}) {
      if (local.has(key)) local.ignore(key, "a group of one switch has no links inside");
    }
  }
  ConfigMap global = fabric.map("global", "links between groups");
  shape.global_links = count(global, "links", "between two groups; distributed over the switches that have any", 1);
  shape.global_speed =
      global.bandwidth({.name = "speed", .doc = "of one link, one direction", .fallback = request.host.fastest_nic(),
                        .usual = "that of a NIC"});
  shape.latency = read_latency(fabric, request.host.nic.latency);
  plan.host = with_fabric_latency(fabric, std::move(plan.host));
  shape.global_cable = global.duration(
      {.name = "cable", .doc = "latency along one cable (5 ns a metre)", .fallback = shape.latency.cable});
  plan.routing = read_paths(fabric);
  if (!fabric.documenting() && shape.groups < 3 && fabric.has("routing")) {
    ConfigMap routing = fabric.map("routing", "");
    for (const std::string_view key : {"paths", "minimal"}) {
      if (routing.has(key)) routing.ignore(key, "there is no third group to route over");
    }
  }
  if (!fabric.documenting()) check_size(fabric, request, shape);
  return std::make_unique<Dragonfly>(std::move(plan));
}

}  // namespace

std::unique_ptr<Topology> read_dragonfly(ConfigMap& fabric, const TopologyRequest& request) {
  return read(fabric, request, Kind::kPlain);
}

std::unique_ptr<Topology> read_dragonfly_plus(ConfigMap& fabric, const TopologyRequest& request) {
  return read(fabric, request, Kind::kPlus);
}

}  // namespace ringwright::network_models
