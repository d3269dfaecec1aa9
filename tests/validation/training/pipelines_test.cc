// Rows with pipeline stages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"
#include "validation/training/scenario.h"

namespace ringwright::validation::pipelines_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(TrainingPipelines, ReduceShardedGradientsOnceAStep) {
  const auto conventions = read_conventions(shipped_folder("training"));
  ASSERT_TRUE(conventions.has_value()) << render(conventions.error());
  TrainingRow row;
  row.id = "x-001";
  row.model = row.shipped_model = "llama3-8b";
  row.layers = 32;
  row.framework = "Megatron-LM";
  row.gpu = "A100-SXM4-80GB";
  row.sharding = "ZeRO-2";
  row.gpus = 16;
  row.tp = 4;
  row.pp = 2;
  row.micro_batch = 1;
  row.global_batch = 64;
  const auto staged = make_scenario(row, *conventions);
  ASSERT_TRUE(staged.has_value()) << staged.error().reason;
  EXPECT_THAT(staged->yaml, HasSubstr("zero: {stage: 1"));
  EXPECT_THAT(staged->assumed, Contains(HasSubstr("reduced once a step")));
  row.pp = 1;
  const auto whole = make_scenario(row, *conventions);
  ASSERT_TRUE(whole.has_value()) << whole.error().reason;
  EXPECT_THAT(whole->yaml, HasSubstr("zero: {stage: 2"));
  EXPECT_THAT(whole->assumed, Not(Contains(HasSubstr("reduced once a step"))));
}

// Without a layout layers that do not divide evenly are spread, and that is listed.
TEST(TrainingPipelines, HaveTheLayoutThatTheRecipeStates) {
  const auto conventions = read_conventions(shipped_folder("training"));
  ASSERT_TRUE(conventions.has_value()) << render(conventions.error());
  TrainingRow row;
  row.id = "x-001";
  row.model = row.shipped_model = "deepseek-v3";
  row.layers = 61;
  row.experts = 256;
  row.framework = "Megatron-Bridge 26.04";
  row.gpu = "GB300";
  row.gpus = 256;
  row.tp = 1;
  row.pp = 4;
  row.ep = 32;
  row.virtual_stages = 4;
  row.micro_batch = 1;
  row.global_batch = 15360;
  const auto yaml = [&](const std::string& recipe) {
    row.recipe = recipe;
    const auto made = make_scenario(row, *conventions);
    return made ? made->yaml : made.error().reason;
  };
  const char* const given = "pipeline_model_parallel_layout: \"Et*4|(t*4|)*14tmL\"";
  EXPECT_THAT(yaml("te_op_fuser=1; pipeline_layout=Et*4|(t*4|)*14tmL; mtp_num_layers=1"), HasSubstr(given));
  EXPECT_THAT(yaml("pp_layout= Et*4|(t*4|)*14tmL"), HasSubstr(given));
  EXPECT_THAT(yaml("pipeline_layout=Et*4|(t*4|)*14tmL"), Not(HasSubstr("layers_per_part")));
  EXPECT_THAT(yaml("pipeline_layout=Et*4|(t*4|)*14tmL"), Not(HasSubstr("mtp_num_layers")));
  EXPECT_THAT(yaml("pipeline_layout=Et*4|(t*4|)*14tL"), HasSubstr("mtp_num_layers: 0"));
  for (const char* const none : {"pipeline_layout=none", "pipeline_layout=; te_op_fuser=1", ""}) {
    EXPECT_THAT(yaml(none), HasSubstr("layers_per_part")) << none;
  }
}

}  // namespace
}  // namespace ringwright::validation::pipelines_test
