// The paths between two GPUs of a cluster of H100 hosts: their links, and which pairs are equivalent.
#include "configs/simulation/pair_router.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::pair_router_test {
namespace {

using namespace ringwright::literals;

class PairsOfTwoHosts : public testing::Test {
 protected:
  PairsOfTwoHosts()
      : scenario_(
            load("version: 1\nmodel: {preset: llama3-8b}\ntraining: {global_batch: 16}\nparallel: {tp: 8, dp: auto}\n"
                 "cluster: {nodes: 2, node: {preset: dgx-h100}}\n")),
        network_(scenario_.cluster.topology->build()) {}

  [[nodiscard]] PairRouter pair(int first, int second) const {
    return PairRouter(*network_.router, RankId(first), RankId(second));
  }

  Scenario scenario_;
  network_models::Network network_;
};

TEST_F(PairsOfTwoHosts, HaveThePathsOfTheClustersRouter) {
  for (const int peer : {1, 8, 11}) {
    const PairRouter router = pair(0, peer);
    for (const RouteKind route_kind : {RouteKind::kWhole, RouteKind::kPxn}) {
      std::vector<Hop> expected;
      std::vector<Hop> hops;
      const Duration latency =
          network_.router->route({.from = RankId(peer), .to = RankId(0), .route_kind = route_kind}, expected);
      EXPECT_EQ(router.route({.from = RankId(1), .to = RankId(0), .route_kind = route_kind}, hops), latency);
      ASSERT_EQ(hops.size(), expected.size());
      for (std::size_t hop = 0; hop < hops.size(); ++hop) {
        EXPECT_EQ(router.capacities()[hops[hop].link.index()],
                  network_.router->capacities()[expected[hop].link.index()]);
      }
    }
  }
}

// Both directions share no link of a full-duplex network; with PXN the path ends on links of the direct one.
TEST_F(PairsOfTwoHosts, NumberTheirLinksFromNought) {
  const PairRouter router = pair(0, 8);
  std::vector<Hop> there;
  std::vector<Hop> back;
  router.route({.from = RankId(0), .to = RankId(1)}, there);
  router.route({.from = RankId(1), .to = RankId(0)}, back);
  std::vector<bool> seen(router.capacities().size(), false);
  for (const auto& path : {there, back}) {
    for (const Hop& hop : path) {
      EXPECT_FALSE(seen[hop.link.index()]);
      seen[hop.link.index()] = true;
    }
  }
  EXPECT_TRUE(std::accumulate(seen.begin(), seen.end(), true, [](bool all, bool one) { return all && one; }));
}

TEST_F(PairsOfTwoHosts, AreAlikeOnTheSameRailsAndInTheSameHost) {
  EXPECT_EQ(pair(0, 8).signature(), pair(5, 13).signature());
  EXPECT_EQ(pair(0, 8).signature(), pair(13, 5).signature());
  EXPECT_EQ(pair(0, 1).signature(), pair(10, 15).signature());
  EXPECT_NE(pair(0, 1).signature(), pair(0, 8).signature());
}

}  // namespace
}  // namespace ringwright::configs::pair_router_test
