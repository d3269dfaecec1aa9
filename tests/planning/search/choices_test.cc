#include "planning/search/choices.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.h"

namespace ringwright::planning::choices_test {
namespace {

using namespace ringwright::literals;

Configuration configuration(std::int64_t tp, const std::string& recompute, Duration step, Duration computing) {
  Configuration result{.index = 0, .layout = {}, .layers_per_part = {}, .fullest = {}, .quick = {}, .played = {}};
  result.layout.tp = tp;
  result.layout.recompute = recompute;
  result.quick.emplace();
  result.quick->step_time.mean = step;
  result.quick->everywhere.total = step;
  result.quick->everywhere.computing = computing;
  result.quick->everywhere.idle = step - computing;
  return result;
}

// The order of the ranking is that of another objective: the fastest is the second.
SearchResult some_result() {
  SearchResult result;
  result.axes = {{.name = "tp", .values = {"1", "2", "4"}},
                 {.name = "recompute", .values = {"none", "full"}},
                 {.name = "pp", .values = {"1"}}};
  result.ranked = {configuration(2, "full", 30_ms, 25_ms), configuration(2, "none", 20_ms, 12_ms),
                   configuration(4, "full", 24_ms, 11_ms)};
  result.misfits = {configuration(1, "full", 10_ms, 10_ms), configuration(4, "none", 15_ms, 10_ms)};
  return result;
}

TEST(ChoiceClasses, HaveTheQuickestLayoutOfEachValue) {
  const std::vector<ChoiceClass> classes = choice_classes(some_result());
  ASSERT_EQ(classes.size(), 5U);  // pp has one value
  EXPECT_EQ(classes[1].value, "2");
  EXPECT_EQ(classes[1].fitting, 2U);
  EXPECT_EQ(classes[1].best, 1U);
  EXPECT_EQ(classes[2].best, 2U);
  EXPECT_EQ(classes[2].too_large, 1U);
  EXPECT_EQ(classes[4].value, "full");
  EXPECT_EQ(classes[4].best, 2U);
}

TEST(ChoiceClasses, NameTheClosestWhereNoneFits) {
  const ChoiceClass single = choice_classes(some_result()).front();
  EXPECT_EQ(single.value, "1");
  EXPECT_FALSE(single.best.has_value());
  EXPECT_EQ(single.closest, 0U);
}

// What does not fit is no bound, though it computes shortest.
TEST(StepBoundOfASearch, IsTheShortestComputingTimeOfThoseThatFit) {
  const auto bound = step_bound(some_result());
  ASSERT_TRUE(bound.has_value());
  EXPECT_EQ(bound->computing, 11_ms);
  EXPECT_EQ(bound->shortest, 2U);
  EXPECT_EQ(bound->fastest, 20_ms);
  EXPECT_FALSE(step_bound(SearchResult()).has_value());
}

// On a real space no layout beats it, and every class's best is in its class.
TEST(StepBoundOfASearch, IsNotBeatenByAnyLayout) {
  const auto scenario = configs::load_scenario(ringwright::test_data() + "/planning/search/uneven.yaml");
  ASSERT_TRUE(scenario.has_value());
  const auto result = search(*scenario, scenario->search);
  ASSERT_TRUE(result.has_value());
  const auto bound = step_bound(*result);
  ASSERT_TRUE(bound.has_value());
  EXPECT_GT(bound->computing, Duration(0));
  for (const Configuration& layout : result->ranked) EXPECT_GE(layout.quick->step_time.mean, bound->computing);
  std::size_t fitting = 0;
  for (const ChoiceClass& choice : choice_classes(*result)) {
    fitting += choice.fitting;
    if (choice.best) {
      EXPECT_GE(result->ranked[*choice.best].quick->step_time.mean, bound->fastest);
    }
  }
  std::size_t axes = 0;
  for (const configs::SearchAxis& axis : result->axes) axes += axis.values.size() > 1 ? 1U : 0U;
  EXPECT_LE(fitting, axes * result->ranked.size());
  EXPECT_GT(fitting, 0U);
}

TEST(WhySlower, NamesTheTermThatExplainsMost) {
  const SearchResult result = some_result();
  EXPECT_EQ(why_slower(*result.ranked[1].quick, *result.ranked[2].quick), "+4 ms: bubble +5 ms");
  EXPECT_EQ(why_slower(*result.ranked[1].quick, *result.ranked[1].quick), "as fast");
}

}  // namespace
}  // namespace ringwright::planning::choices_test
