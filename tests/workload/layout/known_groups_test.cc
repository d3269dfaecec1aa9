// Groups that are taken over from an earlier step are those that would be listed again.
#include "workload/layout/known_groups.h"

#include <gtest/gtest.h>

#include "workload/layout/rank_layout.h"

namespace ringwright::workload::known_groups_test {
namespace {

ParallelOptions layout(int tp, int pp, int dp) {
  ParallelOptions parallel;
  parallel.tp = tp;
  parallel.pp = pp;
  parallel.dp = dp;
  return parallel;
}

std::vector<Dimension> dimensions_of(const RankLayout& ranks) {
  return {ranks.tensor_dimension(), ranks.pipeline_dimension()};
}

std::vector<Dimension> without_groups(const ParallelOptions& parallel) {
  return dimensions_of(RankLayout(parallel, ListedRanks::kNone));
}

void expect_equal(const std::vector<Dimension>& given, const std::vector<Dimension>& listed) {
  ASSERT_EQ(given.size(), listed.size());
  for (std::size_t d = 0; d < given.size(); ++d) {
    EXPECT_EQ(given[d].groups, listed[d].groups);
    EXPECT_EQ(given[d].group_of, listed[d].group_of);
    EXPECT_EQ(given[d].index_in_group, listed[d].index_in_group);
  }
}

// A step with the groups of this layout of ranks, laid out.
TaskGraph step(const ParallelOptions& parallel) {
  TaskGraph graph;
  graph.dimensions = dimensions_of(RankLayout(parallel));
  graph.layouts = GroupLayouts({make_block_layout(parallel.tp, parallel.tp)});
  return graph;
}

TEST(KnownGroups, AreGivenOnceToAStepOnTheSameRanks) {
  const ParallelOptions parallel = layout(2, 4, 2);
  KnownGroups known;
  TaskGraph earlier = step(parallel);
  known.keep(parallel, earlier);
  std::vector<Dimension> dimensions = without_groups(parallel);
  GroupLayouts layouts;
  ASSERT_TRUE(known.give(parallel, dimensions, layouts));
  expect_equal(dimensions, dimensions_of(RankLayout(parallel)));
  EXPECT_EQ(layouts.size(), 1U);
  EXPECT_FALSE(known.give(parallel, dimensions, layouts));
}

TEST(KnownGroups, AreNotGivenToOtherLayoutsOrDimensions) {
  const ParallelOptions parallel = layout(2, 4, 2);
  KnownGroups known;
  TaskGraph earlier = step(parallel);
  known.keep(parallel, earlier);
  GroupLayouts layouts;
  for (const ParallelOptions& other : {layout(4, 2, 2), layout(2, 2, 4)}) {
    std::vector<Dimension> dimensions = without_groups(other);
    EXPECT_FALSE(known.give(other, dimensions, layouts));
  }
  std::vector<Dimension> fewer = {RankLayout(parallel, ListedRanks::kNone).pipeline_dimension()};
  EXPECT_FALSE(known.give(parallel, fewer, layouts));
}

// Shards of a data-parallel group have groups of their own, which the layout of ranks does not know.
TEST(KnownGroups, AreNotKeptWhereParametersAreSharded) {
  ParallelOptions parallel = layout(2, 4, 2);
  parallel.sharding.parameters = true;
  KnownGroups known;
  TaskGraph earlier = step(parallel);
  known.keep(parallel, earlier);
  std::vector<Dimension> dimensions = without_groups(parallel);
  GroupLayouts layouts;
  EXPECT_FALSE(known.give(parallel, dimensions, layouts));
}

}  // namespace
}  // namespace ringwright::workload::known_groups_test
