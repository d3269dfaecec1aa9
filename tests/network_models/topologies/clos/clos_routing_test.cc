// Which of the parallel paths a policy takes: balance, symmetry, determinism, shares.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/host/host_block.h"
#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::clos_routing_test {
namespace {

// 4 rails, units of 8 hosts, 8 uplinks a leaf.
Network rails(const Routing& routing, int hosts = 32) {
  const Host host = simple_host(4, 4);
  return build_clos({.host = host, .shape = derive_clos(rail_order(16, 4, 8), host, hosts).shape, .routing = routing});
}

// The load in flows of a shift by whole hosts (or by GPUs) on each link between two kinds of nodes.
std::map<LinkId, double> load_of_shift(const Network& network, std::size_t shift, NodeKind from, NodeKind to) {
  std::map<LinkId, double> load;
  const std::size_t ranks = network.fabric.gpus().size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (const Hop& hop : hops_of(network, between(rank, (rank + shift) % ranks))) {
      const LinkSpec& link = network.fabric.link(hop.link);
      if (network.fabric.node(link.from).kind == from && network.fabric.node(link.to).kind == to) {
        load[hop.link] += hop.share;
      }
    }
  }
  return load;
}

TEST(StaticRouting, LoadsEveryUplinkEquallyUnderAShift) {
  const Network network = rails({});
  for (const std::size_t hosts : {8U, 13U, 16U}) {
    for (const auto& [from, to] :
         {std::pair(NodeKind::kLeaf, NodeKind::kSpine), std::pair(NodeKind::kSpine, NodeKind::kLeaf)}) {
      const auto load = load_of_shift(network, 4 * hosts, from, to);
      for (const auto& [link, flows] : load) EXPECT_DOUBLE_EQ(flows, 1.0) << network.fabric.name(link);
      // 128 flows, each over its own uplink: all 8 uplinks of all 16 leaves.
      EXPECT_EQ(load.size(), 128U);
    }
  }
}

TEST(StaticRouting, LoadsCoreLinksEquallyUnderAShift) {
  const Host host = simple_host(2, 2);
  ClosOrder order = rail_order(16, 2, 4);
  order.tiers = 3;
  order.pod = 2;
  const Network network = build_clos({.host = host, .shape = derive_clos(order, host, 32).shape, .routing = {}});
  const auto load = load_of_shift(network, 2 * 8, NodeKind::kSpine, NodeKind::kCore);  // to the next pod of 8 hosts
  EXPECT_EQ(load.size(), 64U);  // as many core links as GPUs, all in use
  for (const auto& [link, flows] : load) EXPECT_DOUBLE_EQ(flows, 1.0) << network.fabric.name(link);
}

TEST(StaticRouting, UsesTheSameUplinksOnEveryRail) {
  const Network network = rails({});
  for (std::size_t rail = 1; rail < 4; ++rail) {
    const auto first = hops_of(network, between(0, 4 * 20));
    const auto other = hops_of(network, between(rail, 4 * 20 + rail));
    EXPECT_EQ(network.fabric.name(network.fabric.link(first[3].link).to),
              network.fabric.name(network.fabric.link(other[3].link).to));
  }
}

TEST(DModKRouting, SendsRailsOverDifferentSpines) {
  const Network network = rails({.policy = RoutingPolicy::kDModK});
  std::set<std::string> spines;
  for (std::size_t rail = 0; rail < 4; ++rail) {
    const auto hops = hops_of(network, between(rail, 4 * 20 + rail));
    spines.insert(network.fabric.name(network.fabric.link(hops[3].link).to));
  }
  EXPECT_EQ(spines.size(), 4U);
}

// GPU d of host d/8 on rail d%8: d-mod-k takes uplink (d/8 + d%8) % U and core link (d/U) % V; static takes uplink
// (d/8) % U and, with as many spines as uplinks, core link (d/8/U * 8 + d%8) % V.
TEST(StaticRouting, FollowsItsFormulas) {
  const Host host = simple_host(8, 8);
  ClosOrder order = rail_order(48, 8, 8);
  order.leaf.oversubscription = 2.0;
  order.tiers = 3;
  order.pod = 3;
  const ClosShape shape = derive_clos(order, host, 128).shape;
  ASSERT_EQ(shape.uplinks, 4U);
  ASSERT_EQ(shape.spines, 4U);
  const std::uint32_t u = shape.uplinks;
  const std::uint32_t v = shape.spine_uplinks;
  const std::uint32_t first_uplink = static_cast<std::uint32_t>(128 * HostBlock(host).link_count() + 2 * 128 * 8);
  const std::uint32_t first_core_link = first_uplink + 2 * shape.leaves() * u;
  for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kDModK}) {
    const Network network = build_clos({.host = host, .shape = shape, .routing = {.policy = policy}});
    for (std::uint32_t d = 512; d < 1024; d += 37) {
      const bool node_mod = policy == RoutingPolicy::kStatic;
      const std::uint32_t a = node_mod ? d / 8 % u : (d / 8 + d % 8) % u;
      const std::uint32_t core = node_mod ? (d / 8 / u * 8 + d % 8) % v : d / u % v;
      const auto hops = hops_of(network, between(3, d));  // from host 0, rail 3: leaf 3, pod 0
      EXPECT_EQ(hops[3].link.value, first_uplink + 2 * (3 * u + a));
      EXPECT_EQ(hops[4].link.value, first_core_link + 2 * (a * v + core));
    }
  }
}

TEST(StaticRouting, SpreadsTheNicsOfOneHostOverTheUplinksOfAFatTree) {
  const Host host = simple_host(4, 4);
  const Network network =
      build_clos({.host = host, .shape = derive_clos(simple_order(32), host, 16).shape, .routing = {}});
  std::set<LinkId> uplinks;
  for (std::size_t gpu = 0; gpu < 4; ++gpu) uplinks.insert(hops_of(network, between(gpu, 4 * 15 + gpu))[3].link);
  EXPECT_EQ(uplinks.size(), 4U);
}

TEST(EcmpRouting, RepeatsForEqualSeedsAndDiffersForOthers) {
  const Network a = rails({.policy = RoutingPolicy::kEcmp, .hash_seed = 1});
  const Network b = rails({.policy = RoutingPolicy::kEcmp, .hash_seed = 1});
  const Network c = rails({.policy = RoutingPolicy::kEcmp, .hash_seed = 2});
  int differences = 0;
  for (std::size_t to = 40; to < 128; ++to) {
    EXPECT_EQ(trace(a, between(0, to)), trace(b, between(0, to)));
    differences += hops_of(a, between(0, to))[3].link != hops_of(c, between(0, to))[3].link ? 1 : 0;
  }
  EXPECT_GT(differences, 60);  // of 88, where 7 in 8 are to be expected: 77
}

TEST(EcmpRouting, TakesOtherPathsForOtherLabels) {
  const Network network = rails({.policy = RoutingPolicy::kEcmp, .hash_seed = 1});
  std::set<LinkId> uplinks;
  for (std::uint32_t label = 0; label < 64; ++label) {
    uplinks.insert(hops_of(network, {.from = RankId(0), .to = RankId(100), .label = label})[3].link);
  }
  EXPECT_EQ(uplinks.size(), 8U);
}

// Balls into bins: the fullest of 8 uplinks that carry 8 flows carries 2.60 of them on average when each flow has one
// queue pair (exact by multinomial recursion; 2.10, 1.76 for 2 and 4 pairs).
TEST(EcmpRouting, CollidesAsOftenAsBallsInBinsAndLessWithQueuePairs) {
  const auto mean_fullest = [](int pairs) {
    double sum = 0.0;
    constexpr int kSeeds = 400;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Network network = rails(
          {.policy = RoutingPolicy::kEcmp, .hash_seed = static_cast<std::uint64_t>(seed), .queue_pairs = pairs}, 16);
      std::map<LinkId, double> load;
      for (std::size_t host = 0; host < 8; ++host) {  // the 8 hosts of unit 0, rail 0, to unit 1
        for (const Hop& hop : hops_of(network, between(4 * host, 4 * (host + 8)))) {
          if (network.fabric.node(network.fabric.link(hop.link).to).kind == NodeKind::kSpine)
            load[hop.link] += hop.share;
        }
      }
      sum += std::max_element(load.begin(), load.end(), [](auto& a, auto& b) { return a.second < b.second; })->second;
    }
    return sum / kSeeds;
  };
  // The fullest bin's standard deviation is about 0.65, so the mean of 400 has one of 0.033.
  EXPECT_NEAR(mean_fullest(1), 2.60, 0.12);
  EXPECT_NEAR(mean_fullest(4), 1.76, 0.12);
}

TEST(SprayRouting, CarriesEqualSharesThatAddUpToOneOnEveryTier) {
  const Host host = simple_host(2, 2);
  ClosOrder order = rail_order(16, 2, 4);
  order.tiers = 3;
  order.pod = 2;
  const Network network = build_clos(
      {.host = host, .shape = derive_clos(order, host, 32).shape, .routing = {.policy = RoutingPolicy::kSpray}});
  std::map<std::pair<NodeKind, NodeKind>, std::vector<double>> shares;
  for (const Hop& hop : hops_of(network, between(0, 63))) {
    const LinkSpec& link = network.fabric.link(hop.link);
    shares[{network.fabric.node(link.from).kind, network.fabric.node(link.to).kind}].push_back(hop.share);
  }
  const auto expect_tier = [&](NodeKind from, NodeKind to, std::size_t paths) {
    const auto& tier = shares[std::pair(from, to)];
    EXPECT_EQ(tier.size(), paths);
    for (const double share : tier) EXPECT_DOUBLE_EQ(share, 1.0 / static_cast<double>(paths));
  };
  expect_tier(NodeKind::kLeaf, NodeKind::kSpine, 4);
  expect_tier(NodeKind::kSpine, NodeKind::kCore, 16);  // 4 spines with 4 core links each
  expect_tier(NodeKind::kCore, NodeKind::kSpine, 16);
  expect_tier(NodeKind::kSpine, NodeKind::kLeaf, 4);
}

}  // namespace
}  // namespace ringwright::network_models::clos_routing_test
