// Paths around links that are down: valid, close to the policy's own, and given up only when none is left.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::clos_detour_test {
namespace {

// 2 rails, groups of 4 hosts, 16 hosts: leaves of 4 cables and 4 uplinks; `tiers` 3 puts two groups into a pod.
Network cluster(const Routing& routing, int tiers = 2) {
  const Host host = simple_host(2, 2);
  ClosOrder order = rail_order(8, 2, 4);
  order.tiers = tiers;
  if (tiers == 3) order.pod = 2;
  const DerivedClos derived = derive_clos(order, host, 16);
  EXPECT_TRUE(derived.problems.empty());
  return build_clos({.host = host, .shape = derived.shape, .routing = routing});
}

std::vector<Hop> hops_with(const Network& network, RouteQuery query, const LinksDown& down) {
  std::vector<Hop> hops;
  query.down = &down;
  network.router->route(query, hops);
  return hops;
}

bool crosses(const std::vector<Hop>& hops, const LinksDown& down) {
  return std::ranges::any_of(hops, [&](const Hop& hop) { return down[hop.link.index()]; });
}

bool same(const std::vector<Hop>& a, const std::vector<Hop>& b) {
  return std::ranges::equal(a, b, [](const Hop& x, const Hop& y) {
    return x.link == y.link && std::abs(x.share - y.share) <= 0.0;
  });
}

LinksDown none_down(const Network& network) { return LinksDown(network.fabric.link_count(), false); }

// Takes down every link between switches whose number among these is in `which` modulo 5, in both directions apart.
LinksDown some_switch_links(const Network& network, int which) {
  LinksDown down = none_down(network);
  int number = 0;
  for (std::size_t link = 0; link < down.size(); ++link) {
    const LinkSpec& spec = network.fabric.link(LinkId(link));
    const NodeKind from = network.fabric.node(spec.from).kind;
    const NodeKind to = network.fabric.node(spec.to).kind;
    const auto is_high = [](NodeKind kind) { return kind == NodeKind::kSpine || kind == NodeKind::kCore; };
    if (is_switch(from) && is_switch(to) && (is_high(from) || is_high(to)) && number++ % 11 == which) down[link] = true;
  }
  return down;
}

struct DetourCase {
  std::string name;
  Routing routing;
  int tiers = 2;
};

class ClosDetour : public ::testing::TestWithParam<DetourCase> {};

TEST_P(ClosDetour, IsThePolicysOwnPathWhenNothingIsDown) {
  const Network network = cluster(GetParam().routing, GetParam().tiers);
  const LinksDown down = none_down(network);
  for (std::size_t to = 1; to < 32; ++to) {
    EXPECT_TRUE(same(hops_with(network, between(0, to), down), hops_of(network, between(0, to)))) << to;
  }
}

TEST_P(ClosDetour, IsASoundPathOverLinksThatAreUp) {
  const Network network = cluster(GetParam().routing, GetParam().tiers);
  for (const int which : {0, 3, 7}) {
    const LinksDown down = some_switch_links(network, which);
    int detours = 0;
    for (std::size_t from = 0; from < 32; ++from) {
      for (std::size_t to = 0; to < 32; ++to) {
        if (from == to) continue;
        const std::vector<Hop> hops = hops_with(network, between(from, to), down);
        EXPECT_FALSE(crosses(hops, down)) << from << " to " << to;
        EXPECT_EQ(flow_error(network.fabric, hops, between(from, to)), "");
        if (!same(hops, hops_of(network, between(from, to)))) ++detours;
      }
    }
    EXPECT_GT(detours, 0);
  }
}

TEST_P(ClosDetour, LeavesPathsAloneThatAreUp) {
  const Network network = cluster(GetParam().routing, GetParam().tiers);
  const LinksDown down = some_switch_links(network, 2);
  for (std::size_t to = 1; to < 32; ++to) {
    const std::vector<Hop> own = hops_of(network, between(0, to));
    if (crosses(own, down)) continue;
    EXPECT_TRUE(same(hops_with(network, between(0, to), down), own)) << to;
  }
}

TEST_P(ClosDetour, IsThePolicysOwnPathWhenNoPathIsLeft) {
  const Network network = cluster(GetParam().routing, GetParam().tiers);
  LinksDown down = none_down(network);
  const NodeId leaf = network.fabric.link(hops_of(network, between(0, 24))[2].link).to;
  for (std::size_t link = 0; link < down.size(); ++link) {
    const LinkSpec& spec = network.fabric.link(LinkId(link));
    down[link] = spec.from == leaf && network.fabric.node(spec.to).kind == NodeKind::kSpine;
  }
  EXPECT_TRUE(same(hops_with(network, between(0, 24), down), hops_of(network, between(0, 24))));
}

INSTANTIATE_TEST_SUITE_P(
    Policies, ClosDetour,
    ::testing::Values(DetourCase{"Static", {}}, DetourCase{"StaticOverCores", {}, 3},
                      DetourCase{"DModKOverCores", {.policy = RoutingPolicy::kDModK}, 3},
                      DetourCase{"Ecmp", {.policy = RoutingPolicy::kEcmp, .hash_seed = 5, .queue_pairs = 3}},
                      DetourCase{"EcmpOverCores",
                                 {.policy = RoutingPolicy::kEcmp, .hash_seed = 5, .queue_pairs = 3},
                                 3},
                      DetourCase{"Spray", {.policy = RoutingPolicy::kSpray}},
                      DetourCase{"SprayOverCores", {.policy = RoutingPolicy::kSpray}, 3}),
    [](const auto& test) { return test.param.name; });

// Host 8 is number 0 of its group: uplink 8 % 4 = 0, and the next one when that is down.
TEST(ClosDetourRule, TakesTheNextUplink) {
  const Network network = cluster({});
  const std::vector<Hop> own = hops_of(network, between(0, 16));
  LinksDown down = none_down(network);
  const auto uplink = std::ranges::find_if(own, [&](const Hop& hop) {
    return network.fabric.node(network.fabric.link(hop.link).to).kind == NodeKind::kSpine;
  });
  ASSERT_NE(uplink, own.end());
  down[uplink->link.index()] = true;
  const std::vector<Hop> detour = hops_with(network, between(0, 16), down);
  EXPECT_EQ(detour[static_cast<std::size_t>(uplink - own.begin())].link.value, uplink->link.value + 2);
}

// Four uplinks sprayed evenly; with one of them down, three.
TEST(ClosDetourRule, SpraysEvenlyOverWhatIsLeft) {
  const Network network = cluster({.policy = RoutingPolicy::kSpray});
  LinksDown down = none_down(network);
  for (const Hop& hop : hops_of(network, between(0, 16))) {
    if (network.fabric.node(network.fabric.link(hop.link).to).kind != NodeKind::kSpine) continue;
    down[hop.link.index()] = true;
    break;
  }
  int uplinks = 0;
  for (const Hop& hop : hops_with(network, between(0, 16), down)) {
    if (network.fabric.node(network.fabric.link(hop.link).to).kind != NodeKind::kSpine) continue;
    EXPECT_DOUBLE_EQ(hop.share, 1.0 / 3.0);
    ++uplinks;
  }
  EXPECT_EQ(uplinks, 3);
}

}  // namespace
}  // namespace ringwright::network_models::clos_detour_test
