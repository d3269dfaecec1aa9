// NetBouncer on Clos networks: without noise every single fault is found, and nothing else.
#include "network_models/probing/net_bouncer.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/clos_orders.h"

namespace ringwright::network_models::net_bouncer_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kAllPaths = 1'000'000;
constexpr NetBouncerOptions kOptions{.penalty = 0.01, .threshold = 1e-3};

// 2 rails, groups of 4 hosts, 16 hosts: leaves of 4 cables and 4 uplinks; `tiers` 3 puts two groups into a pod.
Network cluster(int tiers, bool dual_tor = false) {
  const Host host = simple_host(2, 2);
  ClosOrder order = rail_order(dual_tor ? 16 : 8, 2, 4);
  order.tiers = tiers;
  order.dual_tor = dual_tor;
  if (tiers == 3) order.pod = 2;
  return build_clos({.host = host, .shape = derive_clos(order, host, 16).shape, .routing = {}});
}

// By path, when these cables have these rates.
std::vector<double> success_with(const ProbePlan& plan, const std::vector<std::pair<std::uint32_t, double>>& rates) {
  std::vector<double> success;
  for (std::size_t path = 0; path < plan.path_count(); ++path) {
    double rate = 1.0;
    for (const auto& [cable, of_cable] : rates) {
      if (std::ranges::count(plan.path(path), cable) > 0) rate *= of_cable;
    }
    success.push_back(rate);
  }
  return success;
}

// 32 NICs x 4 uplinks; 32 x 4 uplinks x 4 core links with three tiers.
TEST(ProbePlan, TakesEveryPathToTheHighestTier) {
  EXPECT_EQ(ProbePlan(cluster(2).fabric, kAllPaths).path_count(), 128U);
  const Network three = cluster(3);
  const ProbePlan plan(three.fabric, kAllPaths);
  EXPECT_EQ(plan.path_count(), 32U * 4U * 4U);
  EXPECT_EQ(plan.paths_of_port(), 16U);
  std::set<std::vector<std::uint32_t>> distinct;
  for (std::size_t path = 0; path < plan.path_count(); ++path) {
    distinct.insert(std::vector<std::uint32_t>(plan.path(path).begin(), plan.path(path).end()));
    NodeId at = three.fabric.link(plan.cables()[plan.path(path).front()].up).from;
    for (const std::uint32_t cable : plan.path(path)) {
      const LinkSpec& up = three.fabric.link(plan.cables()[cable].up);
      const LinkSpec& down = three.fabric.link(plan.cables()[cable].down);
      EXPECT_EQ(up.from, at);
      EXPECT_TRUE(down.from == up.to && down.to == up.from);
      at = up.to;
    }
    EXPECT_EQ(three.fabric.node(at).kind, NodeKind::kCore);
  }
  EXPECT_THAT(distinct, SizeIs(plan.path_count()));
}

TEST(ProbePlan, CoversEveryCableWithFewPathsAPort) {
  for (const int tiers : {2, 3}) {
    const Network network = cluster(tiers);
    const ProbePlan plan(network.fabric, 4);
    std::set<std::uint32_t> covered;
    for (std::size_t path = 0; path < plan.path_count(); ++path) {
      covered.insert(plan.path(path).begin(), plan.path(path).end());
    }
    EXPECT_THAT(covered, SizeIs(plan.cables().size())) << tiers;
  }
}

// The acceptance check: without noise every single fault is localised, down or lossy, with no other cable reported.
TEST(NetBouncer, FindsEverySingleFaultWithoutNoise) {
  for (const bool dual_tor : {false, true}) {
    for (const int tiers : {2, 3}) {
      const Network network = cluster(tiers, dual_tor);
      const ProbePlan plan(network.fabric, kAllPaths);
      for (std::uint32_t cable = 0; cable < plan.cables().size(); ++cable) {
        for (const double rate : {0.0, 0.5, 0.98}) {
          const LossyParts found = find_lossy_parts(plan, success_with(plan, {{cable, rate}}), kOptions);
          EXPECT_THAT(found.cables, ElementsAre(cable))
              << network.fabric.name(plan.cables()[cable].up) << " " << rate << " tiers " << tiers;
          EXPECT_THAT(found.switches, IsEmpty());
        }
      }
    }
  }
}

// Cables of a switch that is down, or drops a tenth of what crosses it, are the same to probes: the switch is reported,
// with all of its cables and no others. The cables alone do not show the uplinks of a leaf that is down.
TEST(NetBouncer, FindsEverySingleSwitch) {
  for (const int tiers : {2, 3}) {
    const Network network = cluster(tiers);
    const ProbePlan plan(network.fabric, kAllPaths);
    std::set<NodeId> switches;
    for (std::uint32_t cable = 0; cable < plan.cables().size(); ++cable) switches.insert(plan.upper_end(cable));
    for (const NodeId node : switches) {
      std::vector<std::uint32_t> own;
      std::vector<std::pair<std::uint32_t, double>> down;
      for (std::uint32_t cable = 0; cable < plan.cables().size(); ++cable) {
        if (plan.upper_end(cable) == node || plan.lower_end(cable) == node) {
          own.push_back(cable);
          down.emplace_back(cable, 0.0);
        }
      }
      const LossyParts dead = find_lossy_parts(plan, success_with(plan, down), kOptions);
      EXPECT_THAT(dead.switches, ElementsAre(node)) << tiers;
      EXPECT_EQ(dead.cables, own) << tiers;
      std::vector<double> gray(plan.path_count(), 1.0);
      for (std::size_t path = 0; path < plan.path_count(); ++path) {
        for (const std::uint32_t cable : plan.path(path)) gray[path] *= plan.upper_end(cable) == node ? 0.9 : 1.0;
      }
      EXPECT_THAT(find_lossy_parts(plan, gray, kOptions).switches, ElementsAre(node)) << tiers;
    }
  }
}

// While one port below a leaf is reached, the leaf works: its other cables are down.
TEST(NetBouncer, BlamesCablesWhileAPathIsGood) {
  const Network network = cluster(2);
  const ProbePlan plan(network.fabric, kAllPaths);
  const std::uint32_t cable = 0;
  std::vector<std::pair<std::uint32_t, double>> rates{{cable, 0.0}};
  for (std::uint32_t other = 1; other < plan.cables().size(); ++other) {
    if (plan.upper_end(other) == plan.upper_end(cable)) rates.emplace_back(other, 0.0);
  }
  EXPECT_THAT(find_lossy_parts(plan, success_with(plan, rates), kOptions).switches, SizeIs(1));
  rates.pop_back();
  EXPECT_THAT(find_lossy_parts(plan, success_with(plan, rates), kOptions).switches, IsEmpty());
}

// Without a penalty the minimum is exact: rates are those that the paths were made with.
TEST(NetBouncer, EstimatesTheRatesOfSeveralFaults) {
  const Network network = cluster(3);
  const ProbePlan plan(network.fabric, kAllPaths);
  const std::vector<std::pair<std::uint32_t, double>> rates = {{1, 0.9}, {40, 0.95}, {41, 0.7}, {70, 0.99}};
  const std::vector<double> found = estimate_success(plan, success_with(plan, rates), {.penalty = 0.0});
  for (const auto& [cable, rate] : rates) EXPECT_NEAR(found[cable], rate, 1e-6) << cable;
  EXPECT_EQ(std::ranges::count_if(found, [](double rate) { return rate < 1.0 - 1e-6; }), 4);
}

TEST(NetBouncer, ReportsNothingOnAHealthyFabric) {
  const Network network = cluster(2);
  const ProbePlan plan(network.fabric, kAllPaths);
  EXPECT_THAT(find_lossy_cables(plan, success_with(plan, {}), kOptions), IsEmpty());
}

}  // namespace
}  // namespace ringwright::network_models::net_bouncer_test
