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

}  // namespace
}  // namespace ringwright::validation::pipelines_test
