#include "workload/options/pipeline_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::pipeline_options_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobText job(const std::string& parallel, int layers, int pp) {
  return JobText(small_model(layers) + "training: {global_batch: 16}\nparallel: {pp: " + std::to_string(pp) + ", " +
                     parallel + "}\n",
                 pp);
}

std::vector<std::int64_t> layers(const std::string& parallel, int total, int pp) {
  const JobText read = job(parallel, total, pp);
  EXPECT_THAT(read.problems(), IsEmpty());
  return read.parallel.layers_per_part;
}

TEST(PipelineOptions, EmbeddingAndLossMayCountAsLayers) {
  EXPECT_THAT(layers("account_for_embedding_in_pipeline_split: true", 7, 4), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(layers("account_for_loss_in_pipeline_split: true", 7, 4), ElementsAre(2, 2, 2, 1));
  const std::string both = "account_for_embedding_in_pipeline_split: true, account_for_loss_in_pipeline_split: true";
  EXPECT_THAT(layers(both, 6, 4), ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(layers("stage_layers: trim-ends", 6, 4), ElementsAre(1, 2, 2, 1));
}

TEST(PipelineOptions, TheEndsMayBeSet) {
  EXPECT_THAT(layers("decoder_first_pipeline_num_layers: 1, decoder_last_pipeline_num_layers: 2", 9, 4),
              ElementsAre(1, 3, 3, 2));
  EXPECT_THAT(job("decoder_first_pipeline_num_layers: 2", 9, 4).problems(),
              ElementsAre("E131: 9 layers with 2 on the first and 0 on the last of 4 stages (0: as the others) do not "
                          "divide evenly over the other stages and their 1 chunks | set parallel.stage_layers: "
                          "balanced, or list them in parallel.layers_per_part"));
}

// 78 layers on 12 stages under DeepSpeed: 7 each, and 1 on the last (chronicles-prequel.md of BLOOM, "Re-do").
TEST(PipelineOptions, PartsMayBeFilledOneAfterTheOther) {
  EXPECT_THAT(layers("stage_layers: filled", 78, 12), ElementsAre(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 1));
  EXPECT_THAT(layers("stage_layers: filled", 8, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(job("stage_layers: filled", 9, 4).problems(),
              ElementsAre("E131: 9 layers in 4 chunks of up to 3 leave none for the last chunk | set "
                          "parallel.stage_layers: balanced, or list them in parallel.layers_per_part"));
}

TEST(PipelineOptions, ALayoutBringsChunksAndTheirSchedule) {
  const JobText read = job("pipeline_model_parallel_layout: \"Et|tt|tt|tL\"", 6, 2);
  EXPECT_THAT(read.problems(), IsEmpty());
  EXPECT_THAT(read.parallel.layers_per_part, ElementsAre(1, 2, 2, 1));
  EXPECT_EQ(read.parallel.virtual_stages, 2);
  EXPECT_EQ(read.parallel.schedule, "interleaved-1f1b");
}

TEST(PipelineOptions, ALayoutThatDoesNotFitIsReported) {
  EXPECT_THAT(
      job("pipeline_model_parallel_layout: \"Et|t|tL\"", 3, 2).problems(),
      testing::Contains("E131: parallel.pipeline_model_parallel_layout has 3 chunks, which pp = 2 does not divide"));
  EXPECT_THAT(
      job("pipeline_model_parallel_layout: \"Et|tL\"", 3, 2).problems(),
      ElementsAre("E131: parallel.pipeline_model_parallel_layout has 2 entries that add up to 2, but there are 2 "
                  "model chunks (pp x virtual_stages) and 3 layers"));
  EXPECT_THAT(
      job("pipeline_model_parallel_layout: \"Etx|tL\"", 3, 2).problems(),
      testing::Contains("E131: parallel.pipeline_model_parallel_layout: 'x' is not part of a layout; valid: E, t, m, "
                        "L, '|', '(...)' and '*n' | character 3 of 'Etx|tL'"));
}

TEST(PipelineOptions, OneRuleToSplitLayersAtATime) {
  EXPECT_THAT(job("stage_layers: balanced, decoder_first_pipeline_num_layers: 2", 8, 4).problems(),
              testing::Contains("E131: several keys set the split of layers: decoder_first_pipeline_num_layers, "
                                "stage_layers | keep one of them"));
}

}  // namespace
}  // namespace ringwright::workload::pipeline_options_test
