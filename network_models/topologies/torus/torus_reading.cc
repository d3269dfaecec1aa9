// Reads a torus of nodes: its sides, whether it wraps, the speed of its links.
#include "network_models/topologies/torus/torus.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ringwright::network_models {
namespace {

constexpr std::int64_t kMaxSide = 1 << 16;

class Torus final : public Topology {
 public:
  explicit Torus(TorusPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Network build() const override { return build_torus(plan_); }
  void pass_through_host_memory(Bandwidth copies) override { plan_.host.pass_through_memory(copies); }
  void leave_out_nvlink() override { plan_.host.leave_out_nvlink(); }
  void leave_out_nics(const NicSets& sets) override { plan_.host.nic_sets = sets; }
  [[nodiscard]] std::vector<int> grid() const override {
    if (!plan_.shape.wrap || plan_.shape.twist) return {};
    return {plan_.shape.sizes.begin(), plan_.shape.sizes.end()};
  }
  [[nodiscard]] HostsMeet hosts_meet() const override {
    return grid().empty() ? HostsMeet::kOtherwise : HostsMeet::kOnRings;
  }

 private:
  TorusPlan plan_;
};

void check_sides(ConfigMap& fabric, const std::vector<std::int64_t>& sides, int hosts) {
  if (sides.empty() || sides.size() > kTorusDimensions) {
    fabric.error("dims", "E120",
                 fmt::format("'{}' has {} entries but a torus has 1 to {} dimensions", fabric.path_of("dims"),
                             sides.size(), kTorusDimensions));
    return;
  }
  std::int64_t product = 1;
  for (const std::int64_t side : sides) product *= side;
  if (product == hosts) return;
  fabric.error("dims", "E120",
               fmt::format("the sides of '{}' multiply to {} but 'cluster.nodes' is {}", fabric.path_of("dims"),
                           product, hosts));
}

void check_twist(ConfigMap& fabric, TorusShape& shape) {
  bool twists = false;
  for (const std::uint32_t side : shape.sizes) {
    for (const std::uint32_t other : shape.sizes) twists = twists || (side > 2 && other == 2 * side);
  }
  if (twists && shape.wrap) return;
  if (!fabric.documenting()) {
    fabric.error("twist", "E120",
                 "a torus is twisted where it wraps, and where one side is twice as long as another of 3 nodes or more",
                 "dims: [4, 4, 8]");
  }
  shape.twist = false;
}

}  // namespace

std::unique_ptr<Topology> read_torus(ConfigMap& fabric, const TopologyRequest& request) {
  TorusPlan plan{.host = request.host, .shape = {}};
  const auto sides = fabric.integers(
      {.name = "dims", .doc = "sides of the torus in nodes, 1 to 3 of them: [4, 4, 2]", .min = 1, .max = kMaxSide});
  if (!fabric.documenting()) check_sides(fabric, sides, request.hosts);
  for (std::size_t d = 0; d < std::min(sides.size(), kTorusDimensions); ++d) {
    plan.shape.sizes[d] = static_cast<std::uint32_t>(sides[d]);
  }
  plan.shape.wrap = fabric.boolean(
      {.name = "wrap", .doc = "whether the last node of a row is connected to the first", .fallback = true});
  plan.shape.twist = fabric.boolean(
      {.name = "twist",
       .doc = "whether the link around a side also shifts by half of each side that is twice as long",
       .fallback = false});
  if (plan.shape.twist) check_twist(fabric, plan.shape);
  if (plan.shape.twist || fabric.has("routing") || fabric.documenting()) plan.shortest = read_routing(fabric);
  plan.shape.speed = fabric.bandwidth(
      {.name = "speed", .doc = "of a link between neighbours, one direction", .fallback = request.host.fastest_nic(),
       .usual = "that of a NIC"});
  plan.shape.latency = read_latency(fabric, request.host.nic.latency);
  plan.host = with_fabric_latency(fabric, std::move(plan.host));
  if (!request.host.every_kind_has_nics() && request.hosts > 1) {
    fabric.error("type", "E120", "a torus of nodes needs NICs but 'cluster.node.nic.count' is 0");
  }
  return std::make_unique<Torus>(std::move(plan));
}

}  // namespace ringwright::network_models
