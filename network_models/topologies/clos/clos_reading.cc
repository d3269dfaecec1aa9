// Reads the settings of a Clos network: switches by tier, ratios, group and pod sizes, latencies, routing.
#include "network_models/topologies/clos/clos_reading.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "network_models/topologies/clos/clos.h"

namespace ringwright::network_models {
namespace {

constexpr int kMaxSwitchPorts = 4096;

class ClosTopology final : public Topology {
 public:
  explicit ClosTopology(ClosPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Network build() const override { return build_clos(plan_); }
  void pass_through_host_memory(Bandwidth copies) override { plan_.host.pass_through_memory(copies); }
  void leave_out_nvlink() override { plan_.host.leave_out_nvlink(); }
  void leave_out_nics(const NicSets& sets) override { plan_.host.nic_sets = sets; }
  [[nodiscard]] HostsMeet hosts_meet() const override { return HostsMeet::kAtSwitches; }

 private:
  ClosPlan plan_;
};

enum class HasRatio : std::uint8_t { kNo, kYes };

struct TierName {
  std::string_view key;
  std::string_view doc;
  std::string_view ratio_doc;
  std::string_view usual_speed;
  HasRatio has_ratio = HasRatio::kYes;
};

SwitchOrder read_tier(ConfigMap& fabric, const TierName& name, const SwitchOrder& fallback) {
  ConfigMap map = fabric.map(name.key, name.doc);
  SwitchOrder tier;
  tier.ports = static_cast<int>(map.integer(
      {.name = "ports", .doc = "ports of one switch", .fallback = fallback.ports, .min = 2, .max = kMaxSwitchPorts}));
  tier.speed = map.bandwidth({.name = "speed",
                              .doc = "of one port, one direction",
                              .fallback = fallback.speed,
                              .usual = name.usual_speed});
  if (name.has_ratio == HasRatio::kYes) {
    tier.oversubscription =
        map.ratio({.name = "oversubscription", .doc = name.ratio_doc, .fallback = 1.0, .min = 0.01, .max = 1000.0});
  }
  return tier;
}

std::optional<int> optional_count(ConfigMap& fabric, const Key<std::int64_t>& key) {
  const auto value = fabric.integer_or(key, "auto");
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

// One for each NIC of a host. A rack that is one NVLink domain has more NICs than a spine has ports for leaves: they
// share rails, as those of its trays do.
int usual_rails(int nics) {
  constexpr int kMost = 32;
  int rails = std::max(nics, 1);
  if (rails <= kMost) return rails;
  for (rails = kMost; nics % rails != 0; --rails) {
  }
  return rails;
}

// A problem belongs to the map that its key names: "leaf.ports" to the sub-map `leaf`.
template <class Record>
void record(ConfigMap& fabric, const OrderProblem& problem, Record&& put) {
  const std::size_t dot = problem.key.find('.');
  if (dot == std::string::npos) return put(fabric, problem.key);
  ConfigMap sub = fabric.map(problem.key.substr(0, dot), "");
  put(sub, problem.key.substr(dot + 1));
}

void record_all(ConfigMap& fabric, const DerivedClos& derived) {
  for (const OrderProblem& problem : derived.problems) {
    record(fabric, problem,
           [&](ConfigMap& map, const std::string& key) { map.error(key, "E120", problem.message, problem.hint); });
  }
  if (fabric.any_errors()) return;  // NICs may have been read with mistakes
  for (const OrderProblem& warning : derived.warnings) {
    record(fabric, warning,
           [&](ConfigMap& map, const std::string& key) { map.warn(key, "E121", warning.message, warning.hint); });
  }
}

// What the user did not write is no mistake of theirs.
bool is_of_preset(const ConfigMap& map, std::string_view key) { return map.origin(key).starts_with("preset:"); }

// Keys of the sibling topologies are known but have no effect, so that one scenario can be run with several types.
void pass_over_count(ConfigMap& fabric, std::string_view name, std::string_view type) {
  if (fabric.documenting() || !fabric.has(name)) return;
  (void)optional_count(fabric, {.name = name, .doc = "", .min = 1});
  if (is_of_preset(fabric, name)) return;
  fabric.warn(name, "E121", fmt::format("'{}' has no effect on the type {}", fabric.path_of(name), type));
  fabric.ignore(name, fmt::format("the type {} has none", type));
}

void pass_over_map(ConfigMap& fabric, std::string_view name, std::string_view why) {
  if (fabric.documenting() || !fabric.has(name)) return;
  ConfigMap below = fabric.map(name, "");
  below.pass_over_presets();
  below.ignore_rest(why);
}

void list_given(ConfigMap& map, std::initializer_list<std::string_view> keys, std::string_view why) {
  for (const std::string_view key : keys) {
    if (map.has(key) && !is_of_preset(map, key)) map.ignore(key, why);
  }
}

// Keys for tiers that the network does not have.
void list_idle_tiers(ConfigMap& fabric, const ClosShape& shape) {
  const auto below = [&fabric](std::string_view name) { return fabric.map(name, ""); };
  if (shape.cores == 0 && fabric.has("core")) {
    ConfigMap core = below("core");
    list_given(core, {"ports", "speed", "oversubscription"}, "the network has no cores: two tiers suffice");
  }
  if (shape.cores == 0) list_given(fabric, {"pod"}, "the network has no cores: two tiers suffice");
  if (shape.spines == 0) {
    constexpr std::string_view kWhy = "the network has no spines: one tier suffices";
    if (fabric.has("spine")) {
      ConfigMap spine = below("spine");
      list_given(spine, {"ports", "speed"}, kWhy);
    }
    if (fabric.has("leaf")) {
      ConfigMap leaf = below("leaf");
      list_given(leaf, {"oversubscription"}, kWhy);
    }
  }
  if (shape.uplinks <= 1 && shape.spine_uplinks <= 1 && fabric.has("routing")) {
    ConfigMap routing = below("routing");
    list_given(routing, {"policy", "hash_seed", "queue_pairs"}, "there is one path between any two leaves");
  }
}

}  // namespace

ClosOrder read_clos_order(ConfigMap& fabric, const TopologyRequest& request, ClosKind kind) {
  ClosOrder order;
  order.spread = kind == ClosKind::kFatTree ? NicSpread::kBlocks : NicSpread::kRails;
  order.pod_kind = kind == ClosKind::kRailOnly ? PodKind::kRail : PodKind::kGroups;
  if (kind != ClosKind::kFatTree) {
    order.rails = static_cast<int>(fabric.integer({.name = "rails",
                                                   .doc = "leaf switches that a node's NICs are spread over",
                                                   .fallback = usual_rails(request.host.most_nics()),
                                                   .min = 1,
                                                   .max = 10'000}));
  }
  if (kind == ClosKind::kFatTree) pass_over_count(fabric, "rails", "fat_tree");
  if (kind == ClosKind::kRailOnly) {
    pass_over_count(fabric, "tiers", "rail_only");
    pass_over_count(fabric, "pod", "rail_only");
    pass_over_map(fabric, "core", "the type rail_only has no cores");
  }
  order.group = optional_count(fabric, {.name = "scalable_unit",
                                        .doc = "nodes that share their leaf switches; auto: as the ports allow",
                                        .min = 1,
                                        .max = 1'000'000});
  if (kind != ClosKind::kRailOnly) {
    order.tiers = optional_count(
        fabric, {.name = "tiers", .doc = "tiers of switches; auto: as few as the ports allow", .min = 1, .max = 3});
    order.pod = optional_count(fabric, {.name = "pod",
                                        .doc = "scalable units that share their spines when there are cores",
                                        .min = 1,
                                        .max = 1'000'000});
  }
  order.dual_tor = fabric.boolean({.name = "dual_tor",
                                   .doc = "each NIC has two ports of half its bandwidth, on two leaves (Alibaba HPN)",
                                   .fallback = false});
  order.leaf = read_tier(fabric,
                         {.key = "leaf",
                          .doc = "switches of the first tier",
                          .ratio_doc = "bandwidth of a leaf's downlinks to that of its uplinks",
                          .usual_speed = "that of a NIC's port"},
                         {.ports = 64, .speed = request.host.fastest_nic() / (order.dual_tor ? 2 : 1)});
  order.spine = read_tier(
      fabric,
      {.key = "spine",
       .doc = "switches of the second tier",
       .ratio_doc = "",
       .usual_speed = "that of leaf switches",
       .has_ratio = HasRatio::kNo},
      order.leaf);
  order.core = order.spine;
  if (kind != ClosKind::kRailOnly) {
    order.core =
        read_tier(fabric,
                  {.key = "core",
                   .doc = "switches of the third tier",
                   .ratio_doc = "bandwidth of a spine's links to the leaves to that of its links to the cores",
                   .usual_speed = "that of spine switches"},
                  order.spine);
  }
  order.latency = read_latency(fabric, request.host.nic.latency);
  return order;
}

namespace {

// Not an error: slower switches below fast NICs exist. But faster NICs then change nothing.
void warn_of_slow_ports(ConfigMap& fabric, const ClosOrder& order, const Host& host) {
  const Bandwidth nic = host.fastest_nic() / (order.dual_tor ? 2 : 1);
  if (!fabric.has("leaf") || !(order.leaf.speed < nic)) return;
  ConfigMap leaf = fabric.map("leaf", "");
  leaf.warn("speed", "E121",
            fmt::format("'{}' is {} and a port of a NIC has {}: its cable carries {}", leaf.path_of("speed"),
                        to_string(order.leaf.speed), to_string(nic), to_string(order.leaf.speed)),
            "leave out the speed: ports of leaf switches are then as fast as the NICs");
}

}  // namespace

std::unique_ptr<Topology> read_clos(ConfigMap& fabric, const TopologyRequest& request, ClosKind kind) {
  const ClosOrder order = read_clos_order(fabric, request, kind);
  const Routing routing = read_routing(fabric);
  DerivedClos derived;
  if (!fabric.documenting()) derived = derive_clos(order, request.host, request.hosts);
  record_all(fabric, derived);
  if (!fabric.documenting() && derived.problems.empty()) {
    if (!fabric.any_errors()) warn_of_slow_ports(fabric, order, request.host);
    list_idle_tiers(fabric, derived.shape);
  }
  return std::make_unique<ClosTopology>(ClosPlan{
      .host = with_fabric_latency(fabric, request.host), .shape = derived.shape, .routing = routing});
}

}  // namespace ringwright::network_models
