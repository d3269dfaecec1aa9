#include "core/symmetry/lone_folding.h"

#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "collectives/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/doubles.h"
#include "tests/support/reference_step.h"

namespace ringwright::lone_folding_test {
namespace {

using namespace ringwright::literals;

const CollectiveAlgorithm& ring() {
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    if (algorithm->name() == "ring") return *algorithm;
  }
  ADD_FAILURE() << "no ring";
  return *collectives::algorithms().front();
}

// 512 ranks in pods of 32, on a fabric of 2,048 GPUs whose other links nothing crosses.
struct Case {
  TaskGraph graph = test::make_reference_step({.stages = 4, .replicas = 16, .microbatches = 8,
                                               .activation = Bytes(16777216), .gradient = Bytes(270'000'000),
                                               .forward = 2_ms, .backward = 4_ms});
  peers::ReferenceFabric fabric = peers::ReferenceFabric({.gpus = 2048, .hosts_per_pod = 4, .uplinks = 2,
                                                          .pods_per_superpod = 2, .core_uplinks = 4,
                                                          .rule = peers::RouteRule::kDModK});
  test::AlwaysChoose chooser{ring()};
  Folding all = fold(graph, chooser, fabric);
  Folding alone = fold_alone(graph, chooser, fabric);
};

TEST(LoneFolding, FoldsRanksAsAllLinksDo) {
  const Case job;
  EXPECT_EQ(job.alone.ranks.class_of, job.all.ranks.class_of);
  EXPECT_EQ(job.alone.ranks.representative, job.all.ranks.representative);
  EXPECT_EQ(job.alone.ranks.size, job.all.ranks.size);
  EXPECT_EQ(job.alone.rounds, job.all.rounds);
}

// A class of crossed links has the same members, and comes after the same ones; the others are in no class.
TEST(LoneFolding, KeepsTheClassesOfCrossedLinksInTheirOrder) {
  const Case job;
  const LinkClasses& alone = job.alone.links;
  ASSERT_EQ(alone.class_of.size(), job.all.links.class_of.size());
  ASSERT_LT(alone.representative.size(), job.all.links.representative.size());
  std::optional<std::uint32_t> before;
  for (std::uint32_t number = 0; number < alone.representative.size(); ++number) {
    const std::uint32_t same = job.all.links.class_of[alone.representative[number].index()];
    EXPECT_EQ(job.all.links.representative[same], alone.representative[number]);
    EXPECT_EQ(job.all.links.size[same], alone.size[number]);
    EXPECT_TRUE(!before || *before < same);
    for (std::size_t link = 0; link < alone.class_of.size(); ++link) {
      EXPECT_EQ(alone.class_of[link] == number, job.all.links.class_of[link] == same);
    }
    before = same;
  }
}

TEST(LoneFolding, RoutesAsAllLinksDo) {
  const Case job;
  const auto of_all = make_folded_router(job.fabric, job.all);
  const auto of_alone = make_folded_router(job.fabric, job.alone);
  EXPECT_LT(of_alone->capacities().size(), of_all->capacities().size());
  std::vector<Hop> hops;
  std::vector<Hop> expected;
  const Dimension& replicas = job.graph.dimensions.front();
  for (const RankId rank : job.all.ranks.representative) {
    const std::vector<RankId>& group = replicas.groups[replicas.group_of[rank.index()]];
    const RankId next = group[(replicas.index_in_group[rank.index()] + 1) % group.size()];
    const RouteQuery query{.from = rank, .to = next};
    EXPECT_EQ(of_alone->route(query, hops), of_all->route(query, expected));
    ASSERT_EQ(hops.size(), expected.size());
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
      EXPECT_EQ(job.alone.links.representative[hops[hop].link.index()],
                job.all.links.representative[expected[hop].link.index()]);
      EXPECT_EQ(hops[hop].share, expected[hop].share);
      EXPECT_EQ(hops[hop].multiplicity, expected[hop].multiplicity);
    }
  }
}

}  // namespace
}  // namespace ringwright::lone_folding_test
