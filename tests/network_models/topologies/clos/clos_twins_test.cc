// Twins: parallel links that carry the same traffic where every path spreads evenly over all of them.
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network_models/topologies/clos/clos.h"
#include "tests/network_models/clos_orders.h"

namespace ringwright::network_models::clos_twins_test {
namespace {

Network build(int tiers, RoutingPolicy policy) {
  const Host host = simple_host(2, 1);
  ClosOrder order = simple_order(8);
  order.tiers = tiers;
  const DerivedClos derived = derive_clos(order, host, 24);
  for (const OrderProblem& problem : derived.problems) ADD_FAILURE() << problem.key << ": " << problem.message;
  return build_clos({.host = host, .shape = derived.shape, .routing = {.policy = policy}});
}

TEST(ClosTwins, AreOnlyWherePathsAreSprayed) {
  for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kDModK, RoutingPolicy::kEcmp}) {
    EXPECT_TRUE(build(2, policy).router->twins().empty());
  }
  EXPECT_EQ(build(2, RoutingPolicy::kSpray).router->twins().size(),
            build(2, RoutingPolicy::kSpray).router->capacities().size());
}

// Whoever takes one of them takes all of them, with one share; the first one alone has that share.
TEST(ClosTwins, CarryTheSamePartOfEveryPath) {
  for (const int tiers : {2, 3}) {
    const Network network = build(tiers, RoutingPolicy::kSpray);
    const std::span<const LinkId> twins = network.router->twins();
    std::map<LinkId, std::size_t> size;
    for (const LinkId first : twins) ++size[first];
    std::size_t left_out = 0;
    for (std::uint32_t to = 1; to < 48; ++to) {
      RouteQuery query{.from = RankId(0), .to = RankId(to)};
      std::vector<Hop> all;
      std::vector<Hop> firsts;
      const Duration latency = network.router->route(query, all);
      query.first_of_twins = true;
      EXPECT_EQ(network.router->route(query, firsts), latency);
      std::map<LinkId, std::pair<std::size_t, double>> of_first;  // hops, and their share
      for (const Hop& hop : all) {
        auto& [hops, share] = of_first[twins[hop.link.index()]];
        if (hops == 0) share = hop.share;
        ++hops;
        EXPECT_DOUBLE_EQ(share, hop.share);
      }
      ASSERT_EQ(firsts.size(), of_first.size());
      for (const Hop& hop : firsts) {
        EXPECT_EQ(twins[hop.link.index()], hop.link);
        EXPECT_EQ(of_first[hop.link].first, size[hop.link]);
        EXPECT_DOUBLE_EQ(of_first[hop.link].second, hop.share);
      }
      left_out += all.size() - firsts.size();
    }
    EXPECT_GT(left_out, 0U);
  }
}

TEST(ClosTwins, HaveOneCapacityAndOneDirection) {
  const Network network = build(3, RoutingPolicy::kSpray);
  for (std::size_t link = 0; link < network.router->twins().size(); ++link) {
    const LinkId first = network.router->twins()[link];
    EXPECT_EQ(network.router->capacities()[link], network.router->capacities()[first.index()]);
    EXPECT_EQ((link - first.index()) % 2, 0U);
  }
}

}  // namespace
}  // namespace ringwright::network_models::clos_twins_test
