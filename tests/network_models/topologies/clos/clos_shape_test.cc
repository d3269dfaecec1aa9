#include "network_models/topologies/clos/clos_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/clos_orders.h"

namespace ringwright::network_models::clos_shape_test {
namespace {

using testing::IsEmpty;

ClosShape shape_of(const ClosOrder& order, const Host& host, int hosts) {
  DerivedClos derived = derive_clos(order, host, hosts);
  for (const OrderProblem& problem : derived.problems) ADD_FAILURE() << problem.key << ": " << problem.message;
  return derived.shape;
}

OrderProblem problem_of(const ClosOrder& order, const Host& host, int hosts) {
  const DerivedClos derived = derive_clos(order, host, hosts);
  if (derived.problems.size() != 1) ADD_FAILURE() << derived.problems.size() << " problems";
  return derived.problems.empty() ? OrderProblem() : derived.problems.front();
}

// Al-Fares et al., SIGCOMM 2008: k^3/4 hosts, k pods of k/2 + k/2 switches, k^2/4 cores.
TEST(ClosShape, IsTheKAryFatTreeWhenFullyPopulated) {
  for (const int k : {4, 6, 8, 16}) {
    const auto u = static_cast<std::uint32_t>(k);
    const ClosShape shape = shape_of(simple_order(k), simple_host(1, 1), k * k * k / 4);
    EXPECT_EQ(shape.leaves(), u * u / 2) << k;
    EXPECT_EQ(shape.all_spines(), u * u / 2) << k;
    EXPECT_EQ(shape.all_cores(), u * u / 4) << k;
    EXPECT_EQ(shape.pods, u) << k;
    EXPECT_EQ(shape.uplinks, u / 2) << k;
  }
}

// Two tiers hold k^2/2 hosts: k leaves of k/2 hosts, k/2 spines.
TEST(ClosShape, UsesTwoTiersAsLongAsTheyHold) {
  const ClosShape two = shape_of(simple_order(8), simple_host(1, 1), 32);
  EXPECT_EQ(two.leaves(), 8U);
  EXPECT_EQ(two.all_spines(), 4U);
  EXPECT_EQ(two.all_cores(), 0U);
  const ClosShape three = shape_of(simple_order(8), simple_host(1, 1), 33);
  EXPECT_GT(three.all_cores(), 0U);
}

TEST(ClosShape, NeedsNoSpineForOneLeaf) {
  const ClosShape shape = shape_of(simple_order(8), simple_host(1, 1), 4);
  EXPECT_EQ(shape.leaves(), 1U);
  EXPECT_EQ(shape.uplinks, 0U);
  EXPECT_EQ(shape.all_spines(), 0U);
}

// NVIDIA DGX SuperPOD reference architecture (B200), table of switch counts by scalable units of 32 nodes:
// 2, 4, 8 SU: 16, 32, 64 leaves and 8, 16, 32 spines; 16, 32, 64 SU: 128, 256, 512 leaves and as many spines, and
// 64, 128, 256 cores.
TEST(ClosShape, MatchesTheSuperPodTable) {
  struct Row {
    int units;
    std::uint32_t leaves, spines, cores;
  };
  for (const Row& row : {Row{2, 16, 8, 0}, Row{4, 32, 16, 0}, Row{8, 64, 32, 0}, Row{16, 128, 128, 64},
                         Row{32, 256, 256, 128}, Row{64, 512, 512, 256}}) {
    const ClosShape shape = shape_of(rail_order(64, 8, 32), simple_host(8, 8), 32 * row.units);
    EXPECT_EQ(shape.leaves(), row.leaves) << row.units;
    EXPECT_EQ(shape.all_spines(), row.spines) << row.units;
    EXPECT_EQ(shape.all_cores(), row.cores) << row.units;
    // Every tier forwards its full bandwidth: 32 uplinks a leaf, as many core links as leaf uplinks.
    EXPECT_EQ(shape.uplinks, 32U);
    EXPECT_EQ(shape.all_spines() * shape.spine_uplinks, row.cores > 0 ? shape.leaves() * shape.uplinks : 0);
  }
}

// NVIDIA DGX A100 SuperPOD, 140 nodes in 7 units of 20 on 40-port switches: 56 leaves, 80 spines. Theirs has 28 cores,
// unevenly wired; equal numbers of cables between a spine and each of its cores make it 40 here.
TEST(ClosShape, MatchesTheLeavesAndSpinesOfTheA100SuperPod) {
  const ClosShape shape = shape_of(rail_order(40, 8, 20), simple_host(8, 8), 140);
  EXPECT_EQ(shape.leaves(), 56U);
  EXPECT_EQ(shape.all_spines(), 80U);
  EXPECT_EQ(shape.all_cores(), 40U);
}

TEST(ClosShape, JoinsTheRailsOfASingleHost) {
  const ClosShape shape = shape_of(rail_order(64, 8, 32), simple_host(8, 8), 1);
  EXPECT_EQ(shape.leaves(), 8U);
  EXPECT_EQ(shape.uplinks, 1U);
  EXPECT_EQ(shape.all_spines(), 1U);
}

TEST(ClosShape, ThinsUplinksByTheRatio) {
  ClosOrder order = rail_order(64, 8, 32);
  order.leaf.oversubscription = 2.0;
  EXPECT_EQ(shape_of(order, simple_host(8, 8), 128).uplinks, 16U);
  order.leaf.oversubscription = 0.5;  // more up than down, as Meta builds its first tier
  order.leaf.ports = 96;
  EXPECT_EQ(shape_of(order, simple_host(8, 8), 128).uplinks, 64U);
}

TEST(ClosShape, ThinsCoreLinksByTheirOwnRatio) {
  ClosOrder order = rail_order(96, 8, 32);
  order.leaf.oversubscription = 2.0;
  order.core.oversubscription = 2.0;
  order.pod = 8;
  order.tiers = 3;
  // 64 leaves a pod with 16 uplinks each: 16 spines with 64 cables down, 32 up.
  const ClosShape shape = shape_of(order, simple_host(8, 8), 2048);
  EXPECT_EQ(shape.spines, 16U);
  EXPECT_EQ(shape.spine_uplinks, 32U);
  EXPECT_EQ(shape.pods, 8U);
}

TEST(ClosShape, CountsUplinksBySpeed) {
  ClosOrder order = rail_order(64, 8, 32);
  order.spine.speed = Bandwidth(100e9);
  EXPECT_EQ(shape_of(order, simple_host(8, 8), 128).uplinks, 16U);
}

TEST(ClosShape, SplitsPortsForSlowerNics) {
  // MegaScale: 32 ports of 400G down split into 64 of 200G, 32 up.
  ClosOrder order = rail_order(64, 8, 64);
  Host host = simple_host(8, 8);
  host.nic.bandwidth = Bandwidth(25e9);
  const ClosShape shape = shape_of(order, host, 256);
  EXPECT_EQ(shape.group, 64U);
  EXPECT_EQ(shape.uplinks, 32U);
  EXPECT_EQ(shape.cable, Bandwidth(25e9));
}

TEST(ClosShape, WarnsWhenTheRatioGivesNoWholeNumber) {
  ClosOrder order = rail_order(64, 8, 32);
  order.leaf.oversubscription = 7.0;
  const DerivedClos derived = derive_clos(order, simple_host(8, 8), 128);
  EXPECT_THAT(derived.problems, IsEmpty());
  ASSERT_EQ(derived.warnings.size(), 1U);
  EXPECT_EQ(derived.warnings[0].key, "leaf.oversubscription");
  EXPECT_EQ(derived.warnings[0].message, "7:1 of 32 downlinks is not a whole number of uplinks; built with 5 (6.4:1)");
  EXPECT_EQ(derived.shape.uplinks, 5U);
}

TEST(ClosShape, ShrinksItsGroupsToAFewHosts) {
  const ClosShape shape = shape_of(rail_order(64, 8, 32), simple_host(8, 8), 6);
  EXPECT_EQ(shape.group, 6U);
  EXPECT_EQ(shape.uplinks, 6U);
  EXPECT_EQ(shape.leaves(), 8U);
  EXPECT_EQ(shape.all_spines(), 1U);  // 8 leaves * 6 uplinks fit into 64 ports
}

TEST(ClosShape, SpreadsAHostOverLeavesWhenOneIsTooSmall) {
  const ClosShape shape = shape_of(simple_order(8), simple_host(8, 8), 4);
  EXPECT_EQ(shape.rails, 2U);  // 4 NICs on a leaf
  EXPECT_EQ(shape.group, 1U);
  EXPECT_EQ(shape.leaves(), 8U);
}

TEST(ClosShape, BuildsRailOnlyAsOneNetworkPerRail) {
  const ClosShape one = shape_of(rail_only_order(64, 8, 32), simple_host(8, 8), 32);
  EXPECT_EQ(one.all_spines(), 0U);
  EXPECT_EQ(one.leaves(), 8U);
  // 4 groups: each rail has 4 leaves with 32 uplinks, so 2 spines of 64 ports.
  const ClosShape four = shape_of(rail_only_order(64, 8, 32), simple_host(8, 8), 128);
  EXPECT_EQ(four.pods, 8U);
  EXPECT_EQ(four.spines, 2U);
  EXPECT_EQ(four.leaves_per_pod(), 4U);
}

TEST(ClosShape, NamesBothKeysWhenALeafHasTooFewPorts) {
  const OrderProblem problem = problem_of(rail_order(64, 8, 48), simple_host(8, 8), 96);
  EXPECT_EQ(problem.key, "leaf.ports");
  EXPECT_EQ(
      problem.message,
      "'leaf.ports' is 64 but 'scalable_unit' 48 with 1 NICs of each node on a leaf needs 48 ports down and 48 up "
      "at 1:1");
}

TEST(ClosShape, NamesBothKeysWhenSpinesHaveTooFewPorts) {
  ClosOrder order = rail_order(64, 8, 32);
  order.tiers = 2;
  const OrderProblem problem = problem_of(order, simple_host(8, 8), 512);
  EXPECT_EQ(problem.key, "spine.ports");
  EXPECT_EQ(problem.message, "'spine.ports' is 64 but 128 leaves must reach every spine ('tiers' is 2)");
  EXPECT_EQ(problem_of(rail_only_order(8, 2, 4), simple_host(2, 2), 64).message,
            "'spine.ports' is 8 but 16 leaves must reach every spine ('tiers' is 2)");
}

TEST(ClosShape, NamesTheCorePortsWhenThereAreTooManyPods) {
  ClosOrder order = simple_order(4);
  EXPECT_EQ(problem_of(order, simple_host(1, 1), 17 * 4).message,
            "'core.ports' is 4 but each core switch must reach 17 pods");
}

TEST(ClosShape, RejectsRailsThatDoNotDivideTheNics) {
  EXPECT_EQ(problem_of(rail_order(64, 3, 8), simple_host(8, 8), 32).message,
            "'rails' is 3 but must divide the 8 NICs of a node");
}

TEST(ClosShape, RejectsANodeWithoutNics) {
  const OrderProblem problem = problem_of(simple_order(64), simple_host(8, 0), 2);
  EXPECT_EQ(problem.key, "type");
  EXPECT_EQ(problem.message, "a network between nodes needs NICs but 'cluster.node.nic.count' is 0");
}

TEST(ClosShape, RejectsOneTierForManyLeaves) {
  ClosOrder order = rail_order(64, 8, 32);
  order.tiers = 1;
  EXPECT_EQ(problem_of(order, simple_host(8, 8), 32).message, "'tiers' is 1 but 8 leaves need spines to connect them");
}

TEST(ClosShape, RejectsAPodThatOverfillsTheSpines) {
  ClosOrder order = rail_order(64, 8, 32);
  order.tiers = 3;
  order.pod = 5;
  EXPECT_EQ(problem_of(order, simple_host(8, 8), 512).message,
            "'pod' 5 puts 40 leaves on each spine but of its 'spine.ports' 64 only 32 go down");
}

}  // namespace
}  // namespace ringwright::network_models::clos_shape_test
