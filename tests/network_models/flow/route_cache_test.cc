#include "network_models/flow/route_cache.h"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::route_cache_test {
namespace {

// The path from rank a to rank b is link a and link b, and takes a ps; each is asked for in `asked`.
class AskedRouter final : public Router {
 public:
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    asked.emplace_back(query.from.value, query.to.value);
    hops = {{.link = LinkId(query.from.value)}, {.link = LinkId(query.to.value)}};
    return Duration(query.from.value);
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return {}; }

  mutable std::vector<std::pair<std::uint32_t, std::uint32_t>> asked;
};

RouteQuery between(std::uint32_t from, std::uint32_t to) {
  return {.from = RankId(from), .to = RankId(to)};
}

std::vector<FlowSlot> stranded(RouteCache& routes) {
  std::vector<FlowSlot> flows;
  routes.take_stranded([&](FlowSlot flow) { flows.push_back(flow); });
  return flows;
}

TEST(RouteCache, AsksForAPathOnce) {
  const AskedRouter router;
  RouteCache routes(router);
  EXPECT_EQ(routes.find(between(3, 5)).latency, Duration(3));
  const RouteCache::Route& again = routes.find(between(3, 5));
  ASSERT_EQ(routes.hops(again).size(), 2U);
  EXPECT_EQ(routes.hops(again)[1].link, LinkId(5));
  EXPECT_EQ(router.asked.size(), 1U);
}

// The first 256 places hold the path from rank r to r + 2 next to that from r + 1 to r + 3, so that those of ranks 3,
// 259 and 515 are at one place.
TEST(RouteCache, HasTwoPlacesForEachPath) {
  const AskedRouter router;
  RouteCache routes(router);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(routes.find(between(3, 5)).latency, Duration(3));
    EXPECT_EQ(routes.find(between(259, 261)).latency, Duration(259));
  }
  EXPECT_EQ(router.asked.size(), 2U);
  EXPECT_EQ(routes.find(between(515, 517)).latency, Duration(515));  // instead of the older one
  EXPECT_EQ(routes.find(between(259, 261)).latency, Duration(259));
  EXPECT_EQ(router.asked.size(), 3U);
  EXPECT_EQ(routes.find(between(3, 5)).latency, Duration(3));
  EXPECT_EQ(router.asked.size(), 4U);
}

TEST(RouteCache, TellsQueriesApartByEachOfTheirFields) {
  const AskedRouter router;
  RouteCache routes(router);
  std::vector<RouteQuery> queries(8, between(3, 5));
  queries[1].from = RankId(4);
  queries[2].to = RankId(6);
  queries[3].label = 1;
  queries[4].route_kind = RouteKind::kPxn;
  queries[5].nics.out = 0;
  queries[6].nics.in = 0;
  queries[7].nics.relay = 0;
  queries.push_back(between(3, 5));
  queries.back().first_of_twins = true;
  std::set<std::uint64_t> numbers;
  for (const RouteQuery& query : queries) numbers.insert(routes.find(query).number);
  EXPECT_EQ(numbers.size(), queries.size());
  EXPECT_FALSE(numbers.contains(0));
}

TEST(RouteCache, KnowsRoutesByNumberUntilPathsChange) {
  const AskedRouter router;
  RouteCache routes(router);
  const std::uint64_t number = routes.find(between(3, 5)).number;
  ASSERT_NE(routes.known(number), nullptr);
  EXPECT_EQ(routes.known(number)->latency, Duration(3));
  EXPECT_EQ(routes.known(0), nullptr);
  routes.clear();
  EXPECT_EQ(routes.known(number), nullptr);
  EXPECT_NE(routes.find(between(3, 5)).number, number);
  EXPECT_EQ(routes.known(number), nullptr);
}

TEST(RouteCache, HandsOutTheIdleFlowsOfRoutesThatItForgets) {
  const AskedRouter router;
  RouteCache routes(router);
  routes.find(between(3, 5)).idle = 7;
  EXPECT_TRUE(stranded(routes).empty());
  routes.clear();
  EXPECT_EQ(stranded(routes), std::vector<FlowSlot>{7});
  EXPECT_TRUE(stranded(routes).empty());
}

// More paths than places: each idle flow is either still at its route or handed out.
TEST(RouteCache, LosesNoIdleFlow) {
  const AskedRouter router;
  RouteCache routes(router);
  std::vector<std::uint64_t> numbers;
  for (std::uint32_t from = 0; from < 150; ++from) {
    for (std::uint32_t to = 0; to < 150; ++to) {
      RouteCache::Route& route = routes.find(between(from, to));
      route.idle = from * 150 + to;
      numbers.push_back(route.number);
    }
  }
  std::multiset<FlowSlot> found;
  for (const std::uint64_t number : numbers) {
    if (const RouteCache::Route* const route = routes.known(number)) found.insert(route->idle);
  }
  const std::size_t kept = found.size();
  EXPECT_GT(kept, 5'000U);
  EXPECT_LT(kept, numbers.size());
  for (const FlowSlot flow : stranded(routes)) found.insert(flow);
  ASSERT_EQ(found.size(), numbers.size());
  EXPECT_EQ(std::set<FlowSlot>(found.begin(), found.end()).size(), numbers.size());
}

}  // namespace
}  // namespace ringwright::network_models::route_cache_test
