#include "network_models/topologies/graph/graph_router.h"

#include <map>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/imports/graph_file.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::graph_router_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Network network_of(std::string_view text, const GraphRouter::Settings& settings = {}) {
  auto fabric = parse_graph(text, "net.csv");
  EXPECT_TRUE(fabric.has_value());
  Network network{.fabric = *fabric, .router = nullptr};
  network.router = std::make_unique<GraphRouter>(network.fabric, settings);
  return network;
}

// Two leaves with two GPUs each, three spines: three equal paths between the leaves.
constexpr std::string_view kTree =
    "node,g0,gpu\nnode,g1,gpu\nnode,g2,gpu\nnode,g3,gpu\n"
    "node,l0,leaf\nnode,l1,leaf\nnode,s0,spine\nnode,s1,spine\nnode,s2,spine\n"
    "link,g0,l0,50GB/s,1us\nlink,g1,l0,50GB/s,1us\nlink,g2,l1,50GB/s,1us\nlink,g3,l1,50GB/s,1us\n"
    "link,l0,s0,50GB/s,2us\nlink,l0,s1,50GB/s,2us\nlink,l0,s2,50GB/s,2us\n"
    "link,l1,s0,50GB/s,2us\nlink,l1,s1,50GB/s,2us\nlink,l1,s2,50GB/s,2us\n";

TEST(GraphRouter, HasASoundPathBetweenAnyTwoGpusUnderEveryPolicy) {
  for (const Routing& routing : {Routing{}, Routing{.policy = RoutingPolicy::kEcmp, .hash_seed = 3},
                                 Routing{.policy = RoutingPolicy::kEcmp, .hash_seed = 3, .queue_pairs = 4},
                                 Routing{.policy = RoutingPolicy::kSpray}}) {
    EXPECT_EQ(first_broken_path(network_of(kTree, {.routing = routing})), "");
  }
}

TEST(GraphRouter, TakesTheFewestLinksWithItsApexAtTheHighestSwitch) {
  const Network network = network_of(kTree);
  EXPECT_EQ(trace(network, between(0, 1)), "g0 l0 g1");
  EXPECT_EQ(trace(network, between(0, 2)), "g0 l0 s2 l1 g2");  // destination 2 of 3 paths
  EXPECT_EQ(trace(network, between(0, 3)), "g0 l0 s0 l1 g3");
  EXPECT_EQ(trace(network, between(0, 3, RouteKind::kUpToSwitch)), "g0 l0 s0");
  EXPECT_EQ(trace(network, between(0, 3, RouteKind::kDownFromSwitch)), "s0 l1 g3");
  std::vector<Hop> hops;
  EXPECT_EQ(network.router->route(between(0, 3), hops), Duration(6'000'000));
  EXPECT_EQ(network.router->route(between(0, 3, RouteKind::kUpToSwitch), hops), Duration(3'000'000));
}

TEST(GraphRouter, HashesAmongEqualPaths) {
  const Network network = network_of(kTree, {.routing = {.policy = RoutingPolicy::kEcmp, .hash_seed = 3}});
  std::set<std::string> paths;
  for (std::uint32_t label = 0; label < 40; ++label) {
    paths.insert(trace(network, {.from = RankId(0), .to = RankId(2), .label = label}));
  }
  EXPECT_EQ(paths.size(), 3U);
}

TEST(GraphRouter, SpraysEqualSharesAtEveryFork) {
  const Network network = network_of(kTree, {.routing = {.policy = RoutingPolicy::kSpray}});
  const auto hops = hops_of(network, between(0, 2));
  ASSERT_EQ(hops.size(), 8U);  // g0-l0, three up, three down, l1-g2
  for (std::size_t i = 1; i < 7; ++i) EXPECT_DOUBLE_EQ(hops[i].share, 1.0 / 3.0);
  EXPECT_EQ(hops_of(network, between(0, 2, RouteKind::kUpToSwitch)).size(), 4U);
}

LinkId link_named(const Network& network, const std::string& name) {
  for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
    if (network.fabric.name(LinkId(i)) == name) return LinkId(i);
  }
  ADD_FAILURE() << "no link " << name;
  return LinkId(0);
}

LinksDown down_links(const Network& network, const std::vector<std::string>& names) {
  LinksDown down(network.fabric.link_count(), false);
  for (const std::string& name : names) down[link_named(network, name).index()] = true;
  return down;
}

RouteQuery around(RouteQuery query, const LinksDown& down) {
  query.down = &down;
  return query;
}

// Rank 2 chooses the third of three spines, and of the two remaining (2 % 2) the first.
TEST(GraphRouter, LeadsAroundALinkThatIsDownHereOrFurtherOn) {
  const Network network = network_of(kTree);
  const LinksDown first = down_links(network, {"l0->s2"});
  EXPECT_EQ(trace(network, around(between(0, 2), first)), "g0 l0 s0 l1 g2");
  const LinksDown second = down_links(network, {"s2->l1"});
  EXPECT_EQ(trace(network, around(between(0, 2), second)), "g0 l0 s0 l1 g2");
  const LinksDown elsewhere = down_links(network, {"l1->s2"});
  EXPECT_EQ(trace(network, around(between(0, 2), elsewhere)), "g0 l0 s2 l1 g2");
}

TEST(GraphRouter, TakesItsOwnPathWhenNoneIsLeft) {
  const Network network = network_of(kTree);
  const LinksDown down = down_links(network, {"l0->s0", "s1->l1", "l0->s2"});
  EXPECT_EQ(trace(network, around(between(0, 2), down)), "g0 l0 s2 l1 g2");
}

TEST(GraphRouter, SpraysOverThePathsThatAreLeft) {
  const Network network = network_of(kTree, {.routing = {.policy = RoutingPolicy::kSpray}});
  const LinksDown down = down_links(network, {"s1->l1"});
  const auto hops = hops_of(network, around(between(0, 2), down));
  ASSERT_EQ(hops.size(), 6U);  // g0-l0, two up, two down, l1-g2
  for (std::size_t i = 1; i < 5; ++i) EXPECT_DOUBLE_EQ(hops[i].share, 0.5);
}

// A ring of four GPUs.
constexpr std::string_view kRing =
    "node,a,gpu\nnode,b,gpu\nnode,c,gpu\nnode,d,gpu\n"
    "link,a,b,25GB/s,1us\nlink,b,c,25GB/s,1us\nlink,c,d,25GB/s,1us\nlink,d,a,25GB/s,1us\n";

TEST(GraphRouter, PassesThroughGpusOnlyWhereAllowed) {
  const auto fabric = parse_graph(kRing, "ring.csv");
  ASSERT_TRUE(fabric.has_value());
  const GraphRouter forbidden(*fabric, {});
  EXPECT_THAT(forbidden.unreachable(10), ElementsAre(Pair(RankId(0), RankId(2)), Pair(RankId(1), RankId(3)),
                                                     Pair(RankId(2), RankId(0)), Pair(RankId(3), RankId(1))));
  const Network allowed = network_of(kRing, {.transit = GpuTransit::kAllowed});
  EXPECT_EQ(first_broken_path(allowed), "");
  EXPECT_EQ(trace(allowed, between(1, 3)), "b c d");
}

TEST(GraphRouter, HonoursLinksOfOneDirection) {
  const auto fabric =
      parse_graph("node,a,gpu\nnode,b,gpu\nnode,s,switch\nlink,a,s,1GB/s,1us\nlink,s,b,1GB/s,1us,oneway\n", "net.csv");
  ASSERT_TRUE(fabric.has_value());
  EXPECT_THAT(GraphRouter(*fabric, {}).unreachable(10), ElementsAre(Pair(RankId(1), RankId(0))));
}

}  // namespace
}  // namespace ringwright::network_models::graph_router_test
