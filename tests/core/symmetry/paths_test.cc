// The paths of all flows against the router's own results, and folding large enough to run on several threads.
#include "core/symmetry/paths.h"

#include <bit>

#include <gtest/gtest.h>

#include "core/symmetry/folding.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::paths_test {
namespace {

using namespace ringwright::literals;
using peers::ReferenceFabric;

// Every host gathers among its 8 ranks.
TaskGraph gather_in_hosts(int ranks) {
  TaskGraph graph;
  std::vector<std::vector<int>> groups;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % 8 == 0) groups.emplace_back();
    groups.back().push_back(rank);
    all.push_back(rank);
  }
  const DimensionId tp = test::add_dimension(graph, "tp", groups);
  test::ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllGather, 8_MiB, 1);
  program.run_on(all);
  test::place_ranks(graph, 8);
  return graph;
}

// Groups of 16 over two hosts each, so that paths have more than two links.
TaskGraph gather_over_hosts(int ranks) {
  TaskGraph graph;
  std::vector<std::vector<int>> groups;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % 16 == 0) groups.emplace_back();
    groups.back().push_back(rank);
    all.push_back(rank);
  }
  const DimensionId dp = test::add_dimension(graph, "dp", groups);
  test::ProgramBuilder program(graph, "all");
  program.collective(dp, CollectiveKind::kAllGather, 16_MiB, 1);
  program.run_on(all);
  test::place_ranks(graph, 8);
  return graph;
}

void expect_paths_of_router(const Footprint& footprint, const Router& router, std::size_t stride) {
  const Paths paths = find_paths(footprint, router);
  ASSERT_EQ(paths.first_hop.size(), footprint.first_edge.size());
  ASSERT_EQ(paths.hops.size(), footprint.edges.size());
  std::vector<Hop> hops;
  for (std::size_t rank = 0; rank + 1 < footprint.first_edge.size(); rank += stride) {
    std::uint64_t first = paths.first_hop[rank];
    for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
      const Edge& edge = footprint.edges[e];
      hops.clear();
      Duration latency;
      if (footprint.kinds[edge.kind].starts_flow) latency = router.route({.from = RankId(rank), .to = edge.peer}, hops);
      ASSERT_EQ(paths.latencies[paths.latency[e]], latency.count());
      ASSERT_EQ(paths.hops[e], hops.size());
      for (std::size_t h = 0; h < hops.size(); ++h) {
        ASSERT_EQ(paths.link[first + h], hops[h].link);
        ASSERT_EQ(paths.shares[paths.share_of(first + h)], std::bit_cast<std::uint64_t>(hops[h].share));
      }
      first += hops.size();
    }
    ASSERT_EQ(paths.first_hop[rank + 1], first);
  }
}

TEST(Paths, AreThoseOfTheRouter) {
  const TaskGraph graph = gather_over_hosts(64);
  const test::PlainRing ring;
  const Footprint footprint = make_footprint(graph, test::AlwaysChoose(ring));
  expect_paths_of_router(footprint, ReferenceFabric({.gpus = 64, .hosts_per_pod = 1, .uplinks = 2}), 1);
}

// Every second link of the path carries a third, the others all.
class UnevenRouter final : public Router {
 public:
  explicit UnevenRouter(const Router& router) : router_(router) {}
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const Duration latency = router_.route(query, hops);
    for (std::size_t h = 1; h < hops.size(); h += 2) hops[h].share = 1.0 / 3.0;
    return latency;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }

 private:
  const Router& router_;
};

TEST(Paths, KeepTheSharesOfSprayedPaths) {
  const TaskGraph graph = gather_over_hosts(64);
  const test::PlainRing ring;
  const Footprint footprint = make_footprint(graph, test::AlwaysChoose(ring));
  const ReferenceFabric fabric({.gpus = 64, .hosts_per_pod = 1, .uplinks = 2});
  const UnevenRouter uneven(fabric);
  EXPECT_EQ(find_paths(footprint, uneven).shares.size(), 2U);
  expect_paths_of_router(footprint, uneven, 1);
}

TEST(Paths, AreThoseOfTheRouterWhereThreadsSearch) {
  const TaskGraph graph = gather_in_hosts(static_cast<int>(kRanksWorthThreads));
  const test::PlainRing ring;
  const Footprint footprint = make_footprint(graph, test::AlwaysChoose(ring));
  const ReferenceFabric fabric({.gpus = static_cast<std::uint32_t>(kRanksWorthThreads)});
  expect_paths_of_router(footprint, fabric, 97);
}

// All ranks are identical, and so are the links in use. One slow rank distinguishes the 8 of its host, each by its
// position in the ring behind it, and the links of its host, one out and one in for each.
TEST(Folding, WithThreadsFindsTheClassesThatOneCanCount) {
  TaskGraph graph = gather_in_hosts(static_cast<int>(kRanksWorthThreads));
  const test::PlainRing ring;
  const test::AlwaysChoose chooser(ring);
  const ReferenceFabric fabric({.gpus = static_cast<std::uint32_t>(kRanksWorthThreads)});
  const Folding identical = fold(graph, chooser, fabric);
  EXPECT_EQ(identical.ranks.count(), 1U);
  EXPECT_EQ(identical.links.size.size(), 2U);
  graph.compute_slowdown.assign(graph.rank_count(), 1.0);
  graph.compute_slowdown[4321] = 1.05;
  const Folding apart = fold(graph, chooser, fabric);
  EXPECT_EQ(apart.ranks.count(), 1U + 8U);
  // A link out of one rank and the link into the next carry the same one flow.
  EXPECT_EQ(apart.links.size.size(), 2U + 8U);
}

}  // namespace
}  // namespace ringwright::paths_test
