// Dual ToR: two leaves for the two ports of each NIC; a leaf, cable or port that dies halves the NIC and cuts nothing.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::clos_dual_tor_test {
namespace {

// 16 hosts with 2 GPUs and 2 NICs; groups of 4 hosts; 2 rails, hence 4 leaves a group; `tiers` 3: two groups in a pod.
Network cluster(const Routing& routing, int tiers = 2, PodKind pods = PodKind::kGroups) {
  const Host host = simple_host(2, 2);
  ClosOrder order = rail_order(16, 2, 4);
  order.pod_kind = pods;
  order.tiers = tiers;
  order.dual_tor = true;
  if (tiers == 3) order.pod = 2;
  const DerivedClos derived = derive_clos(order, host, 16);
  EXPECT_TRUE(derived.problems.empty());
  return build_clos({.host = host, .shape = derived.shape, .routing = routing});
}

LinksDown links_of(const Network& network, const std::vector<std::string>& nodes) {
  LinksDown down(network.fabric.link_count(), false);
  for (std::size_t link = 0; link < down.size(); ++link) {
    const LinkSpec& spec = network.fabric.link(LinkId(link));
    for (const std::string& node : nodes) {
      if (network.fabric.name(spec.from) == node || network.fabric.name(spec.to) == node) down[link] = true;
    }
  }
  return down;
}

// The link between two nodes and its reverse.
LinksDown cable(const Network& network, const std::string& name, const std::string& other) {
  LinksDown down(network.fabric.link_count(), false);
  for (std::size_t link = 0; link < down.size(); ++link) {
    const LinkSpec& spec = network.fabric.link(LinkId(link));
    const std::string from = network.fabric.name(spec.from);
    const std::string to = network.fabric.name(spec.to);
    if ((from == name && to == other) || (from == other && to == name)) down[link] = true;
  }
  return down;
}

// The most that one flow can carry: the link whose capacity over its share is smallest.
double most(const Network& network, const std::vector<Hop>& hops) {
  double rate = HUGE_VAL;
  for (const Hop& hop : hops) {
    rate = std::min(rate, network.fabric.link(hop.link).bandwidth.count() / hop.share);
  }
  return rate;
}

std::vector<Hop> hops_with(const Network& network, RouteQuery query, const LinksDown& down) {
  std::vector<Hop> hops;
  query.down = &down;
  network.router->route(query, hops);
  return hops;
}

// Empty when all pairs are connected over links that are up; else the first that is not, and why.
std::string first_cut_off(const Network& network, const LinksDown& down) {
  for (std::size_t from = 0; from < 32; ++from) {
    for (std::size_t to = 0; to < 32; ++to) {
      if (from == to) continue;
      const std::vector<Hop> hops = hops_with(network, between(from, to), down);
      for (const Hop& hop : hops) {
        if (down[hop.link.index()]) return fmt::format("{} -> {} over {}", from, to, network.fabric.name(hop.link));
      }
      if (const std::string error = flow_error(network.fabric, hops, between(from, to)); !error.empty()) return error;
    }
  }
  return "";
}

struct DualTorCase {
  std::string name;
  Routing routing;
  int tiers = 2;
  PodKind pods = PodKind::kGroups;
};

class DualTor : public ::testing::TestWithParam<DualTorCase> {
 protected:
  [[nodiscard]] static Network network() { return cluster(GetParam().routing, GetParam().tiers, GetParam().pods); }
};

TEST_P(DualTor, ConnectsAllPairsByPathsThatAddUp) {
  EXPECT_EQ(first_broken_path(network()), "");
}

// Ports of 25 GB/s: a NIC carries 50 GB/s as long as both are up.
TEST_P(DualTor, CarriesTheWholeBandwidthOfANicOverBothPorts) {
  const Network dual = network();
  for (const std::size_t to : {2U, 31U}) {
    std::vector<Hop> hops;
    for (const Hop& hop : hops_of(dual, between(0, to))) {
      const LinkSpec& link = dual.fabric.link(hop.link);
      const auto is_nic = [&](NodeId node) { return dual.fabric.node(node).kind == NodeKind::kNic; };
      const auto is_leaf = [&](NodeId node) { return dual.fabric.node(node).kind == NodeKind::kLeaf; };
      const bool cable = (is_nic(link.from) && is_leaf(link.to)) || (is_leaf(link.from) && is_nic(link.to));
      if (!cable) continue;
      EXPECT_NEAR(link.bandwidth.count(), 25e9, 1.0);
      EXPECT_NEAR(hop.share, 0.5, 1e-12);
      hops.push_back(hop);
    }
    EXPECT_EQ(hops.size(), 4U) << to;  // two at each end
    EXPECT_NEAR(most(dual, hops), 50e9, 1.0);
  }
}

// The acceptance check of HPN's dual ToR: capacity halves, reachability stays, exactly.
TEST_P(DualTor, LosesHalfOfANicAndNoReachabilityWithAnyLeaf) {
  const Network dual = network();
  for (const int leaf : {0, 1, 2, 3}) {
    const LinksDown down = links_of(dual, {fmt::format("leaf0.{}", leaf)});
    EXPECT_EQ(first_cut_off(dual, down), "") << leaf;
    const std::size_t from = leaf < 2 ? 0 : 1;  // leaves 0 and 1 are of rail 0, on which GPU 0's NIC is
    EXPECT_NEAR(most(dual, hops_with(dual, between(from, from + 2), down)), 25e9, 1.0) << leaf;
    EXPECT_NEAR(most(dual, hops_with(dual, between(from + 30, from), down)), 25e9, 1.0) << leaf;
    const std::size_t other = 1 - from;
    EXPECT_NEAR(most(dual, hops_with(dual, between(other, other + 2), down)), 50e9, 1.0) << leaf;
  }
}

TEST_P(DualTor, LosesHalfOfOneNicWithOneCable) {
  const Network dual = network();
  const LinksDown down = cable(dual, "host0/nic0", "leaf0.1");
  EXPECT_EQ(first_cut_off(dual, down), "");
  EXPECT_NEAR(most(dual, hops_with(dual, between(0, 2), down)), 25e9, 1.0);
  EXPECT_NEAR(most(dual, hops_with(dual, between(2, 4), down)), 50e9, 1.0);
}

// Port 0 of the sender and port 1 of the receiver: traffic crosses over on the spines.
TEST_P(DualTor, CrossesOverWhereTheEndsHaveDifferentPortsLeft) {
  const Network dual = network();
  LinksDown down = cable(dual, "host0/nic0", "leaf0.0");
  const LinksDown more = cable(dual, "host1/nic0", "leaf0.1");
  for (std::size_t link = 0; link < down.size(); ++link) down[link] = down[link] || more[link];
  EXPECT_EQ(first_cut_off(dual, down), "");
  EXPECT_NEAR(most(dual, hops_with(dual, between(0, 2), down)), 25e9, 1.0);
}

// A leaf without uplinks is cut off from other groups, not from its own hosts.
TEST_P(DualTor, LeavesBySideOfThePairThatHasUplinks) {
  const Network dual = network();
  LinksDown down = links_of(dual, {"leaf0.0"});
  for (std::size_t link = 0; link < down.size(); ++link) {
    const LinkSpec& spec = dual.fabric.link(LinkId(link));
    const auto is_nic = [&](NodeId node) { return dual.fabric.node(node).kind == NodeKind::kNic; };
    if (is_nic(spec.from) || is_nic(spec.to)) down[link] = false;
  }
  EXPECT_EQ(first_cut_off(dual, down), "");
  EXPECT_NEAR(most(dual, hops_with(dual, between(0, 30), down)), 25e9, 1.0);
  EXPECT_NEAR(most(dual, hops_with(dual, between(0, 2), down)), 50e9, 1.0);
}

TEST_P(DualTor, WaitsOnItsOwnPathsWhenBothPortsAreDown) {
  const Network dual = network();
  const LinksDown down = links_of(dual, {"leaf0.0", "leaf0.1"});
  const std::vector<Hop> hops = hops_with(dual, between(0, 2), down);
  EXPECT_EQ(flow_error(dual.fabric, hops, between(0, 2)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Policies, DualTor,
    ::testing::Values(DualTorCase{.name = "static", .routing = {}},
                      DualTorCase{.name = "static_core", .routing = {}, .tiers = 3},
                      DualTorCase{.name = "d_mod_k_core", .routing = {.policy = RoutingPolicy::kDModK}, .tiers = 3},
                      DualTorCase{.name = "ecmp", .routing = {.policy = RoutingPolicy::kEcmp, .queue_pairs = 4}},
                      DualTorCase{.name = "ecmp_core",
                                  .routing = {.policy = RoutingPolicy::kEcmp, .queue_pairs = 3},
                                  .tiers = 3},
                      DualTorCase{.name = "spray", .routing = {.policy = RoutingPolicy::kSpray}},
                      DualTorCase{.name = "spray_core", .routing = {.policy = RoutingPolicy::kSpray}, .tiers = 3},
                      DualTorCase{.name = "rail_only", .routing = {}, .pods = PodKind::kRail}),
    [](const auto& param) { return param.param.name; });

// 64 ports, 4 hosts on a rail: 4 ports of half speed down and, with switches of that speed, 4 up.
TEST(DualTorShape, HasTwiceTheLeavesWithPortsOfHalfTheSpeed) {
  ClosOrder order = rail_order(64, 2, 4);
  order.leaf.speed = Bandwidth(25e9);
  order.spine.speed = Bandwidth(25e9);
  const ClosShape single = derive_clos(order, simple_host(2, 2), 16).shape;
  order.dual_tor = true;
  const ClosShape dual = derive_clos(order, simple_host(2, 2), 16).shape;
  EXPECT_EQ(dual.leaves(), 2 * single.leaves());
  EXPECT_EQ(dual.uplinks, 4U);
  EXPECT_NEAR(dual.cable.count(), 25e9, 1.0);
}

}  // namespace
}  // namespace ringwright::network_models::clos_dual_tor_test
