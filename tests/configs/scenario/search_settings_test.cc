#include "configs/scenario/search_settings.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/configs/played.h"

namespace ringwright::configs::search_settings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const std::string& search) {
  return std::string(kTinyModel) + "training: {global_batch: 16}\nsearch: {" + search +
         "}\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";
}

std::string problem_of(const std::string& search) {
  const auto scenario = load_scenario_text("s.yaml", text_of(search));
  return scenario ? std::string() : render(scenario.error());
}

TEST(SearchSettings, AreReadFromTheBlock) {
  const SearchSettings settings =
      load(text_of("tp: [2, 4], recompute: [full], objective: memory, max_memory: 76GiB, top: 3, replay: 0")).search;
  ASSERT_EQ(settings.given.size(), 2U);
  EXPECT_EQ(settings.given[0].name, "tp");
  EXPECT_THAT(settings.given[0].values, ElementsAre("2", "4"));
  EXPECT_THAT(settings.given[1].values, ElementsAre("full"));
  EXPECT_EQ(settings.objective, Objective::kMemory);
  EXPECT_EQ(settings.max_memory, Bytes(std::int64_t{76} << 30));
  EXPECT_EQ(settings.top, 3);
  EXPECT_EQ(settings.replay, 0);
}

TEST(SearchSettings, RefuseWordsThatNoAxisHas) {
  EXPECT_THAT(problem_of("recompute: [fulll]"), HasSubstr("'search.recompute' names 'fulll'; did you mean 'full'?"));
  EXPECT_THAT(problem_of("schedule: [zb-h3]"), HasSubstr("did you mean 'zb-h1'?"));
  EXPECT_THAT(problem_of("sharding: [zero]"), HasSubstr("some of: none, zero-1, zero-2, zero-3, fsdp"));
  EXPECT_THAT(problem_of("etp: [all]"), HasSubstr("'search.etp' names 'all'"));
  EXPECT_THAT(problem_of("tp: [0]"), HasSubstr("must be between 1"));
  EXPECT_THAT(problem_of("tpp: [1]"), HasSubstr("unknown key 'search.tpp'; did you mean 'tp'?"));
}

TEST(SearchSettings, RefuseKeysThatCannotBeVaried) {
  EXPECT_THAT(problem_of("vary: [{key: cluster.nodes, values: ['1']}]"),
              HasSubstr("'cluster.nodes' is not a key of the job"));
  EXPECT_THAT(problem_of("vary: [{key: parallel.tp, values: ['1']}]"), HasSubstr("a separate axis: search.tp"));
  EXPECT_THAT(problem_of("vary: [{key: parallel.zero.stage, values: ['1']}]"), HasSubstr("search.sharding"));
  EXPECT_THAT(problem_of("vary: [{key: parallel.zero.bucket, values: []}]"), HasSubstr("has no values"));
  EXPECT_EQ(problem_of("vary: [{key: parallel.zero.bucket, values: [1MB, 2MB]}]"), "");
}

TEST(SearchSettings, AreNoPartOfAScenarioWithoutTheBlock) {
  const configs::Scenario scenario =
      load(std::string(kTinyModel) +
           "training: {global_batch: 8}\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n");
  for (const ValueRead& value : scenario.document.log().values())
    EXPECT_FALSE(value.path.starts_with("search")) << value.path;
}

TEST(Axes, AreNamedWithOrWithoutTheirMap) {
  EXPECT_EQ(axis_of("tp"), "tp");
  EXPECT_EQ(axis_of("parallel.tp"), "tp");
  EXPECT_EQ(axis_of("training.micro_batch"), "micro_batch");
  EXPECT_EQ(axis_of("parallel.overlap_p2p_comm"), "");
}

}  // namespace
}  // namespace ringwright::configs::search_settings_test
