// Built Clos networks: paths between all pairs, names, and bisection bandwidth.
#include "network_models/topologies/clos/clos.h"

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fabric/graph_analysis.h"
#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::clos_test {
namespace {

struct Case {
  std::string name;
  ClosOrder order;
  int gpus;
  int nics;
  int hosts;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

Network build(const Case& c, const Routing& routing = {}) {
  const Host host = simple_host(c.gpus, c.nics);
  DerivedClos derived = derive_clos(c.order, host, c.hosts);
  for (const OrderProblem& problem : derived.problems) ADD_FAILURE() << problem.key << ": " << problem.message;
  return build_clos({.host = host, .shape = derived.shape, .routing = routing});
}

ClosOrder with_ratio(ClosOrder order, double leaf, double core = 1.0) {
  order.leaf.oversubscription = leaf;
  order.core.oversubscription = core;
  return order;
}

ClosOrder with_pods(ClosOrder order, int pod) {
  order.tiers = 3;
  order.pod = pod;
  return order;
}

std::vector<Case> cases() {
  return {
      {"one_leaf", simple_order(8), 2, 1, 4},
      {"two_tiers", simple_order(8), 1, 1, 30},
      {"two_tiers_parallel_cables", simple_order(16), 1, 1, 24},
      {"three_tiers", simple_order(4), 1, 1, 16},
      {"three_tiers_partial_pods", simple_order(4), 2, 1, 11},
      {"fat_tree_shared_nics", simple_order(8), 4, 2, 10},
      {"fat_tree_host_on_two_leaves", simple_order(4), 4, 4, 4},
      {"rail_one_unit", rail_order(16, 4, 8), 4, 4, 5},
      {"rail_two_tiers", rail_order(16, 4, 4), 4, 4, 11},
      {"rail_two_nics_a_rail", rail_order(16, 2, 4), 4, 4, 8},
      {"rail_ratio", with_ratio(rail_order(16, 2, 8), 2.0), 2, 2, 32},
      {"rail_three_tiers", with_pods(rail_order(16, 2, 4), 2), 2, 2, 24},
      {"rail_three_tiers_ratios", with_pods(with_ratio(rail_order(24, 2, 4), 2.0, 2.0), 3), 2, 2, 32},
      {"rail_only_one_unit", rail_only_order(16, 4, 8), 4, 4, 6},
      {"rail_only_spines", rail_only_order(16, 4, 4), 4, 4, 14},
  };
}

std::string case_name(const testing::TestParamInfo<Case>& param) {
  return param.param.name;
}

class ClosNetwork : public testing::TestWithParam<Case> {};

TEST_P(ClosNetwork, HasASoundPathBetweenAnyTwoGpusUnderEveryPolicy) {
  for (const Routing& routing :
       {Routing{}, Routing{.policy = RoutingPolicy::kDModK}, Routing{.policy = RoutingPolicy::kEcmp, .hash_seed = 7},
        Routing{.policy = RoutingPolicy::kEcmp, .hash_seed = 7, .queue_pairs = 5},
        Routing{.policy = RoutingPolicy::kSpray}}) {
    EXPECT_EQ(first_broken_path(build(GetParam(), routing)), "") << static_cast<int>(routing.policy);
  }
}

TEST_P(ClosNetwork, IsConnected) {
  const Network network = build(GetParam());
  EXPECT_EQ(check_connectivity(network.fabric).unreachable_pairs, 0U);
}

TEST_P(ClosNetwork, NamesEveryNodeOnce) {
  const Network network = build(GetParam());
  std::set<std::string> names;
  for (std::size_t i = 0; i < network.fabric.node_count(); ++i) names.insert(network.fabric.name(NodeId(i)));
  EXPECT_EQ(names.size(), network.fabric.node_count());
}

TEST_P(ClosNetwork, SurvivesAMove) {
  Network network = build(GetParam());
  const std::size_t last = network.fabric.gpus().size() - 1;
  const std::string before = trace(network, between(0, last));
  const Network moved = std::move(network);
  EXPECT_EQ(trace(moved, between(0, last)), before);
  EXPECT_EQ(moved.router->capacities().size(), moved.fabric.link_count());
}

INSTANTIATE_TEST_SUITE_P(All, ClosNetwork, testing::ValuesIn(cases()), case_name);

TEST(ClosPaths, GoUpToTheLowestCommonTierOnly) {
  const Network network = build({"", with_pods(rail_order(16, 2, 4), 2), 2, 2, 24});
  // Hosts 0..3 are a unit, units 0 and 1 a pod. GPU 2h + r is on rail r of host h.
  EXPECT_EQ(trace(network, between(0, 2)),
            "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0 host1/nic0 host1/pcie0 host1/gpu0");
  EXPECT_EQ(trace(network, between(0, 10)),
            "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0 spine0.1 leaf1.0 host5/nic0 host5/pcie0 host5/gpu0");
  EXPECT_EQ(trace(network, between(0, 33)),
            "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0 spine0.0 core0.1 spine2.0 leaf4.1 host16/nic1 host16/pcie1 "
            "host16/gpu1");
}

TEST(ClosPaths, AreCutAtTheirHighestSwitch) {
  const Network network = build({"", with_pods(rail_order(16, 2, 4), 2), 2, 2, 24});
  EXPECT_EQ(trace(network, between(0, 2, RouteKind::kUpToSwitch)), "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0");
  EXPECT_EQ(trace(network, between(0, 10, RouteKind::kDownFromSwitch)),
            "spine0.1 leaf1.0 host5/nic0 host5/pcie0 host5/gpu0");
  EXPECT_EQ(trace(network, between(0, 33, RouteKind::kUpToSwitch)),
            "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0 spine0.0 core0.1");
}

TEST(ClosPaths, ChangeRailsOnASpineOrWithoutSpinesOverNvLink) {
  const Network with_spines = build({"", rail_order(16, 4, 8), 4, 4, 5});
  // 4 leaves with 5 uplinks in 16 ports: 5 spines; host 1 takes uplink 1.
  EXPECT_EQ(trace(with_spines, between(0, 6)),
            "host0/gpu0 host0/pcie0 host0/nic0 leaf0.0 spine1 leaf0.2 host1/nic2 host1/pcie2 host1/gpu2");
  const Network without = build({"", rail_only_order(16, 4, 8), 4, 4, 5});
  EXPECT_EQ(trace(without, between(0, 6)),
            "host0/gpu0 host0/nvswitch0 host0/gpu2 host0/pcie2 host0/nic2 leaf0.2 host1/nic2 host1/pcie2 host1/gpu2");
}

TEST(ClosPaths, PayNicsHopsAndCables) {
  const Network network = build({"", with_pods(rail_order(16, 2, 4), 2), 2, 2, 24});
  std::vector<Hop> hops;
  // simple_order: NIC 600 ns at both ends, 230 ns a switch, 50 ns a cable; PCIe 150 ns a hop, two at each end.
  EXPECT_EQ(network.router->route(between(0, 2), hops), Duration((4 * 150 + 2 * 600 + 1 * 230 + 2 * 50) * 1000));
  EXPECT_EQ(network.router->route(between(0, 10), hops), Duration((4 * 150 + 2 * 600 + 3 * 230 + 4 * 50) * 1000));
  EXPECT_EQ(network.router->route(between(0, 33), hops), Duration((4 * 150 + 2 * 600 + 5 * 230 + 6 * 50) * 1000));
}

// GPUs have 63 GB/s of PCIe and NICs 50 GB/s, so NICs bound the rate of a host; the planes do not leave the host.
TEST(ClosBisection, IsHalfOfAllNicsAtFullProvision) {
  for (const Case& c :
       {Case{"", simple_order(8), 1, 1, 32}, Case{"", simple_order(4), 1, 1, 16},
        Case{"", rail_order(16, 4, 4), 4, 4, 16}, Case{"", with_pods(rail_order(16, 2, 4), 2), 2, 2, 32}}) {
    const Network network = build(c);
    EXPECT_DOUBLE_EQ(bisection_bandwidth(network.fabric, static_cast<std::size_t>(c.gpus)).count(),
                     0.5 * c.hosts * c.nics * 50e9);
  }
}

TEST(ClosBisection, FallsWithTheRatioOfTheTierThatIsCrossed) {
  const auto bisection = [](const Case& c) {
    return bisection_bandwidth(build(c).fabric, static_cast<std::size_t>(c.gpus)).count();
  };
  const double half = 0.5 * 32 * 2 * 50e9;
  EXPECT_DOUBLE_EQ(bisection({"", with_ratio(rail_order(64, 2, 8), 2.0), 2, 2, 32}), half / 2);
  EXPECT_DOUBLE_EQ(bisection({"", with_ratio(rail_order(64, 2, 8), 4.0), 2, 2, 32}), half / 4);
  EXPECT_DOUBLE_EQ(bisection({"", with_pods(with_ratio(rail_order(64, 2, 4), 2.0, 2.0), 2), 2, 2, 32}), half / 4);
}

}  // namespace
}  // namespace ringwright::network_models::clos_test
