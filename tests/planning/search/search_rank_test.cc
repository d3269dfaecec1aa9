#include "planning/search/search_rank.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::search_rank_test {
using namespace configs;
namespace {

using namespace ringwright::literals;
using ::testing::ElementsAre;

configs::Prediction taking(Duration step) {
  configs::Prediction prediction;
  prediction.step_time.mean = step;
  prediction.tokens_per_second_per_gpu = 1.0 / to_seconds(step);
  prediction.everywhere.total = step;
  return prediction;
}

Configuration configuration(std::size_t index, Duration quick, Bytes memory) {
  Configuration result{
      .index = index, .layout = {}, .layers_per_part = {}, .fullest = {}, .quick = taking(quick), .played = {}};
  result.fullest.total = memory;
  return result;
}

std::vector<std::size_t> indices(const std::vector<Configuration>& configurations) {
  std::vector<std::size_t> result;
  for (const Configuration& c : configurations) result.push_back(c.index);
  return result;
}

TEST(Ranking, IsByTheObjectiveAndThenByTimeMemoryAndPlace) {
  std::vector<Configuration> some{configuration(3, 2_s, 5_GiB), configuration(2, 2_s, 5_GiB),
                                  configuration(1, 2_s, 4_GiB), configuration(0, 3_s, 1_GiB)};
  rank_by_formulas(some, Objective::kStepTime);
  EXPECT_THAT(indices(some), ElementsAre(1, 2, 3, 0));
  rank_by_formulas(some, Objective::kMemory);
  EXPECT_THAT(indices(some), ElementsAre(0, 1, 2, 3));
  rank_by_formulas(some, Objective::kTokensPerSecond);
  EXPECT_THAT(indices(some), ElementsAre(1, 2, 3, 0));
}

// Three pairs: two in the same order, one reversed: (2 - 1) / 3.
TEST(Agreement, IsKendallsTau) {
  std::vector<Configuration> some{configuration(0, 1_s, 1_B), configuration(1, 2_s, 1_B), configuration(2, 3_s, 1_B)};
  some[0].played = taking(5_s);
  some[1].played = taking(7_s);
  some[2].played = taking(6_s);
  EXPECT_DOUBLE_EQ(*agreement(some, Objective::kStepTime), 1.0 / 3.0);
  some[2].played = taking(7_s);  // a tie on one side: 2 / sqrt(3 x 2)
  EXPECT_DOUBLE_EQ(*agreement(some, Objective::kStepTime), 2.0 / std::sqrt(6.0));
  EXPECT_FALSE(agreement(std::span(some).first(1), Objective::kStepTime).has_value());
}

TEST(ParetoFront, HoldsWhatNothingBeatsInBoth) {
  const std::vector<Configuration> some{configuration(0, 1_s, 9_GiB), configuration(1, 2_s, 4_GiB),
                                        configuration(2, 2_s, 6_GiB), configuration(3, 3_s, 4_GiB),
                                        configuration(4, 5_s, 1_GiB)};
  EXPECT_THAT(pareto_front(some), ElementsAre(4, 1, 0));
}

TEST(LargestDifference, NamesWhatTheSlowerSpendsMoreTimeOn) {
  TimeBreakdown faster{
      .of = "", .computing = 10_s, .dimensions = {{.name = "dp", .exposed = 3_s}}, .idle = 1_s, .total = 14_s};
  TimeBreakdown slower{
      .of = "", .computing = 9_s, .dimensions = {{.name = "tp", .exposed = 4_s}}, .idle = 3_s, .total = 16_s};
  const auto term = largest_difference(faster, slower);
  ASSERT_TRUE(term.has_value());
  EXPECT_EQ(term->name, "exposed tp");  // 4 s more; idle 2 s more, computing and dp less
  EXPECT_EQ(term->more, 4_s);
  const auto back = largest_difference(slower, faster);
  EXPECT_EQ(back->name, "exposed tp");  // 4 s less, which is why it is the faster one
  EXPECT_EQ(back->more, Duration(0) - 4_s);
  EXPECT_FALSE(largest_difference(faster, faster).has_value());
}

}  // namespace
}  // namespace ringwright::planning::search_rank_test
