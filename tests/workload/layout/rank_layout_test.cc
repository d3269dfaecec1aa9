#include "workload/layout/rank_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::rank_layout_test {
namespace {

using testing::ElementsAre;

ParallelOptions sizes(int tp, int dp, int pp) {
  ParallelOptions options;
  options.tp = tp;
  options.dp = dp;
  options.pp = pp;
  return options;
}

std::vector<std::size_t> numbers(const std::vector<RankId>& ranks) {
  std::vector<std::size_t> result;
  for (const RankId rank : ranks) result.push_back(rank.index());
  return result;
}

TEST(RankLayout, RanksAndCoordinatesAreInverse) {
  ParallelOptions options = sizes(2, 3, 4);
  options.cp = 2;
  const RankLayout layout(options);
  ASSERT_EQ(layout.rank_count(), 48U);
  for (std::size_t rank = 0; rank < layout.rank_count(); ++rank) {
    EXPECT_EQ(layout.rank(layout.coordinates(RankId(rank))), RankId(rank));
  }
}

TEST(RankLayout, TensorParallelRanksAreNeighboursAndStagesLieFarthestApart) {
  // The example in Megatron's parallel_state.py: 16 GPUs, tp 2, pp 4, hence dp 2.
  const RankLayout layout(sizes(2, 2, 4));
  const Dimension tp = layout.tensor_dimension();
  const Dimension dp = layout.data_dimension();
  const Dimension pp = layout.pipeline_dimension();
  EXPECT_EQ(tp.name, "tp");
  EXPECT_THAT(numbers(tp.groups.at(0)), ElementsAre(0, 1));
  EXPECT_THAT(numbers(tp.groups.at(7)), ElementsAre(14, 15));
  EXPECT_THAT(numbers(dp.groups.at(0)), ElementsAre(0, 2));
  EXPECT_THAT(numbers(dp.groups.at(1)), ElementsAre(1, 3));
  EXPECT_THAT(numbers(pp.groups.at(0)), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(numbers(pp.groups.at(3)), ElementsAre(3, 7, 11, 15));
}

TEST(RankLayout, ModelGroupsHoldTheModelOnce) {
  const Dimension model = RankLayout(sizes(2, 2, 4)).model_dimension();
  ASSERT_EQ(model.groups.size(), 2U);
  EXPECT_THAT(numbers(model.groups[0]), ElementsAre(0, 1, 4, 5, 8, 9, 12, 13));
  EXPECT_THAT(numbers(model.groups[1]), ElementsAre(2, 3, 6, 7, 10, 11, 14, 15));
}

TEST(RankLayout, EmbeddingGroupsJoinFirstAndLastStage) {
  const Dimension embedding = RankLayout(sizes(2, 1, 3)).embedding_dimension();
  ASSERT_EQ(embedding.groups.size(), 4U);
  EXPECT_THAT(numbers(embedding.groups[0]), ElementsAre(0, 4));
  EXPECT_THAT(numbers(embedding.groups[1]), ElementsAre(1, 5));
  EXPECT_THAT(numbers(embedding.groups[2]), ElementsAre(2));
  EXPECT_THAT(numbers(embedding.groups[3]), ElementsAre(3));
}

// Megatron-LM, parallel_state.py: the ranks of a stage are divided into tp x cp x dp and also into etp x ep x
// expert-dp.
TEST(RankLayout, ExpertsCutTheRanksOfAStageAgain) {
  ParallelOptions options = sizes(2, 4, 2);
  options.experts.ep = 4;
  const RankLayout layout(options);
  const Dimension ep = layout.expert_dimension();
  EXPECT_THAT(numbers(ep.groups.at(0)), ElementsAre(0, 1, 2, 3));  // through the tensor-parallel groups
  EXPECT_THAT(numbers(ep.groups.at(1)), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(numbers(layout.expert_data_dimension().groups.at(1)), ElementsAre(1, 5));
  EXPECT_EQ(layout.expert_coordinates(RankId(13)), (ExpertCoordinates{.etp = 0, .ep = 1, .edp = 1, .pp = 1}));
}

TEST(RankLayout, SplitExpertsAreNeighbours) {
  ParallelOptions options = sizes(2, 4, 1);
  options.experts.ep = 2;
  options.experts.etp = 2;
  const RankLayout layout(options);
  EXPECT_THAT(numbers(layout.expert_tensor_dimension().groups.at(1)), ElementsAre(2, 3));
  EXPECT_THAT(numbers(layout.expert_dimension().groups.at(0)), ElementsAre(0, 2));
  EXPECT_THAT(numbers(layout.expert_dimension().groups.at(1)), ElementsAre(1, 3));
  EXPECT_THAT(numbers(layout.expert_data_dimension().groups.at(0)), ElementsAre(0, 4));
}

TEST(RankLayout, ExpertParallelRanksOfOneHostAreNeighbours) {
  ParallelOptions options = sizes(1, 8, 1);
  options.experts.ep = 8;
  options.experts.host_ranks = 4;
  const RankLayout layout(options);
  EXPECT_THAT(numbers(layout.inner_expert_dimension().groups.at(1)), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(numbers(layout.outer_expert_dimension().groups.at(1)), ElementsAre(1, 5));
}

TEST(RankLayout, ContextParallelRanksHoldCopiesOfTheParameters) {
  ParallelOptions options = sizes(2, 2, 1);
  options.cp = 4;
  options.ulysses = 2;
  const RankLayout layout(options);
  EXPECT_THAT(numbers(layout.context_dimension().groups.at(0)), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(numbers(layout.ulysses_dimension().groups.at(0)), ElementsAre(0, 2));
  EXPECT_THAT(numbers(layout.ring_dimension().groups.at(0)), ElementsAre(0, 4));
  EXPECT_THAT(numbers(layout.data_dimension().groups.at(1)), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
}

TEST(RankLayout, EveryRankIsInOneGroupOfEachDimension) {
  const RankLayout layout(sizes(4, 2, 3));
  for (const Dimension& dimension : {layout.tensor_dimension(), layout.data_dimension(), layout.pipeline_dimension(),
                                     layout.model_dimension(), layout.embedding_dimension()}) {
    std::size_t members = 0;
    for (const auto& group : dimension.groups) members += group.size();
    EXPECT_EQ(members, layout.rank_count()) << dimension.name;
    EXPECT_EQ(dimension.group_of.size(), layout.rank_count()) << dimension.name;
  }
}

}  // namespace
}  // namespace ringwright::workload::rank_layout_test
