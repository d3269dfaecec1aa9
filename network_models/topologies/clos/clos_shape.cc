// Deriving a Clos network's counts: hosts a leaf, uplinks, spines, pods, cores.
//
// With ratio r, a switch with p ports has p * r / (1 + r) of them down and the rest up. A pod's spines divide the
// uplinks of its leaves, so that every spine has the same number of cables to every leaf; cores likewise.
#include "network_models/topologies/clos/clos_shape.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ringwright::network_models {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) {
  return (a + b - 1) / b;
}

// The smallest divisor d of n such that n / d <= most; n >= 1, most >= 1.
std::uint32_t smallest_divisor(std::uint32_t n, std::uint32_t most) {
  std::uint32_t d = ceil_div(n, most);
  while (n % d != 0) ++d;
  return d;
}

// Real numbers of ports, rounded up or down with a tolerance for division error.
constexpr double kNoise = 1e-9;
std::uint32_t whole_down(double x) {
  return static_cast<std::uint32_t>(std::floor(x + kNoise));
}
std::uint32_t whole_up(double x) {
  return static_cast<std::uint32_t>(std::ceil(x - kNoise));
}

double times(Bandwidth a, Bandwidth b) {
  return a.count() / b.count();
}

class Derivation {
 public:
  Derivation(const ClosOrder& order, const Host& host, int hosts) : order_(order) {
    shape_.spread = order.spread;
    shape_.pod_kind = order.pod_kind;
    shape_.hosts = static_cast<std::uint32_t>(hosts);
    shape_.nics = static_cast<std::uint32_t>(std::max(host.most_nics(), 1));
    shape_.nic_ports = order.dual_tor ? 2 : 1;
    shape_.cable = std::min(host.fastest_nic() / shape_.nic_ports, order.leaf.speed);
    shape_.leaf_port = order.leaf.speed;
    shape_.uplink = order.spine.speed;
    shape_.core_link = order.core.speed;
    shape_.latency = order.latency;
    if (!host.every_kind_has_nics()) {
      problem("type", "a network between nodes needs NICs but 'cluster.node.nic.count' is 0", "set the node's NICs");
    }
  }

  DerivedClos run() {
    if (problems_.empty()) choose_group();
    if (problems_.empty()) choose_uplinks();
    if (problems_.empty()) choose_tiers();
    return {.shape = shape_, .problems = std::move(problems_), .warnings = std::move(warnings_)};
  }

 private:
  void problem(std::string key, std::string message, std::string hint = {}) {
    problems_.push_back({.key = std::move(key), .message = std::move(message), .hint = std::move(hint)});
  }

  // Leaf ports that `nics` NICs take (a port can be split for slower NICs), and the uplinks that they need.
  [[nodiscard]] double down_ports(double nics) const { return nics * times(shape_.cable, order_.leaf.speed); }
  [[nodiscard]] double up_ports(double nics) const {
    return nics * times(shape_.cable, shape_.uplink) / order_.leaf.oversubscription;
  }

  void choose_group() {
    const auto ports = static_cast<double>(order_.leaf.ports);
    const std::uint32_t room = whole_down(ports / (down_ports(1.0) + up_ports(1.0)));  // NICs on a leaf
    if (room == 0)
      return problem("leaf.ports", fmt::format("'leaf.ports' is {} but a leaf needs at least one port down and one up",
                                               order_.leaf.ports));
    shape_.rails = order_.rails ? static_cast<std::uint32_t>(*order_.rails) : smallest_divisor(shape_.nics, room);
    if (shape_.nics % shape_.rails != 0) {
      return problem("rails",
                     fmt::format("'rails' is {} but must divide the {} NICs of a node", shape_.rails, shape_.nics));
    }
    const std::uint32_t most = std::max(room / shape_.nics_per_rail(), 1U);
    shape_.group = std::min(order_.group ? static_cast<std::uint32_t>(*order_.group) : most, shape_.hosts);
    shape_.groups = ceil_div(shape_.hosts, shape_.group);
  }

  void choose_uplinks() {
    const double nics = static_cast<double>(shape_.group * shape_.nics_per_rail());
    const std::uint32_t down = whole_up(down_ports(nics));
    const bool alone = order_.pod_kind == PodKind::kRail ? shape_.groups == 1 : shape_.leaves() == shape_.nic_ports;
    const std::uint32_t up = alone ? 0 : std::max(whole_up(up_ports(nics)), 1U);
    if (up > 0 && std::abs(static_cast<double>(up) - up_ports(nics)) > kNoise * static_cast<double>(up)) {
      const double real = static_cast<double>(down) * times(order_.leaf.speed, shape_.uplink) / static_cast<double>(up);
      warnings_.push_back(
          {.key = "leaf.oversubscription",
           .message = fmt::format("{:g}:1 of {} downlinks is not a whole number of uplinks; built with {} ({:.3g}:1)",
                                  order_.leaf.oversubscription, down, up, real),
           .hint = {}});
    }
    if (down + up > static_cast<std::uint32_t>(order_.leaf.ports)) {
      return problem(
          "leaf.ports",
          fmt::format("'leaf.ports' is {} but 'scalable_unit' {} with {} NICs of each node on a leaf needs {} ports "
                      "down and {} up at {:g}:1",
                      order_.leaf.ports, shape_.group, shape_.nics_per_rail(), down, up, order_.leaf.oversubscription),
          "a smaller 'scalable_unit', more ports, or a higher 'leaf.oversubscription'");
    }
    shape_.uplinks = up;
  }

  void choose_tiers() {
    const bool per_rail = order_.pod_kind == PodKind::kRail;
    shape_.groups_per_pod = shape_.groups;
    shape_.pods = per_rail ? shape_.rails : 1;
    if (order_.tiers == 1 && shape_.uplinks > 0) {
      return problem("tiers", fmt::format("'tiers' is 1 but {} leaves need spines to connect them", shape_.leaves()));
    }
    if (shape_.uplinks == 0) return;
    const auto ports = static_cast<std::uint32_t>(order_.spine.ports);
    const bool fits = shape_.leaves_per_pod() <= ports;
    if (per_rail || (fits && order_.tiers.value_or(2) == 2) || order_.tiers == 2) {
      if (!fits) {
        return problem(
            "spine.ports",
            fmt::format("'spine.ports' is {} but {} leaves must reach every spine ('tiers' is 2)", ports,
                        shape_.leaves_per_pod()),
            per_rail ? "a larger 'scalable_unit' or more ports" : "'tiers: 3', a larger 'scalable_unit' or more ports");
      }
      shape_.spines = smallest_divisor(shape_.uplinks, std::max(ports / shape_.leaves_per_pod(), 1U));
      return;
    }
    choose_pods();
  }

  void choose_pods() {
    const auto ports = static_cast<double>(order_.spine.ports);
    const double up_per_down = times(shape_.uplink, shape_.core_link) / order_.core.oversubscription;
    const std::uint32_t down = whole_down(ports / (1.0 + up_per_down));
    const std::uint32_t most = down / (shape_.rails * shape_.nic_ports);  // groups, each leaf with one cable a spine
    if (most == 0) {
      return problem("spine.ports",
                     fmt::format("'spine.ports' is {}: {} of them down are too few for the 'rails' {} of one group",
                                 order_.spine.ports, down, shape_.rails));
    }
    shape_.groups_per_pod = std::min(order_.pod ? static_cast<std::uint32_t>(*order_.pod) : most, shape_.groups);
    shape_.pods = ceil_div(shape_.groups, shape_.groups_per_pod);
    const std::uint32_t leaves = shape_.leaves_per_pod();
    if (leaves > down) {
      return problem("pod",
                     fmt::format("'pod' {} puts {} leaves on each spine but of its 'spine.ports' {} only {} go down",
                                 shape_.groups_per_pod, leaves, order_.spine.ports, down));
    }
    shape_.spines = smallest_divisor(shape_.uplinks, down / leaves);
    if (shape_.pods == 1) return;
    const std::uint32_t cables = leaves * (shape_.uplinks / shape_.spines);  // of a spine, down
    shape_.spine_uplinks = std::max(whole_up(static_cast<double>(cables) * up_per_down), 1U);
    const auto core_ports = static_cast<std::uint32_t>(order_.core.ports);
    if (shape_.pods > core_ports) {
      return problem("core.ports",
                     fmt::format("'core.ports' is {} but each core switch must reach {} pods", core_ports, shape_.pods),
                     "a larger 'pod' or more ports");
    }
    shape_.cores = smallest_divisor(shape_.spine_uplinks, core_ports / shape_.pods);
  }

  const ClosOrder& order_;
  ClosShape shape_;
  std::vector<OrderProblem> problems_;
  std::vector<OrderProblem> warnings_;
};

}  // namespace

DerivedClos derive_clos(const ClosOrder& order, const Host& host, int hosts) {
  return Derivation(order, host, hosts).run();
}

}  // namespace ringwright::network_models
