#include "workload/model/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/builtin.h"

namespace ringwright::workload::model_config_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobText model_of(const std::string& keys) {
  return JobText("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, vocab_size: 100, seq_length: 16" +
                     keys + "}\ntraining: {global_batch: 1}\n",
                 1);
}

TEST(ModelConfig, SizesThatAreNotGivenFollowFromOthers) {
  const JobText job = model_of("");
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.shape.kv_heads, 8);
  EXPECT_EQ(job.shape.head_size, 8);
  EXPECT_EQ(job.shape.ffn, 256);
  EXPECT_EQ(job.shape.activation, Activation::kSwiGlu);
  EXPECT_EQ(job.shape.embeddings, Embeddings::kUntied);
}

TEST(ModelConfig, ReadsTheKindsOfAnOlderModel) {
  const ModelShape shape =
      model_of(
          ", normalization: layernorm, activation: gelu, position_embedding: learned, bias: all,"
          " untie_embeddings_and_output_weights: false, hidden_dropout: 0.1, max_position_embeddings: 32")
          .shape;
  EXPECT_EQ(shape.normalization, Normalization::kLayerNorm);
  EXPECT_EQ(shape.activation, Activation::kGelu);
  EXPECT_EQ(shape.positions, Positions::kLearned);
  EXPECT_EQ(shape.biases, kAllBiases);
  EXPECT_EQ(shape.embeddings, Embeddings::kTied);
  EXPECT_TRUE(shape.hidden_dropout);
  EXPECT_FALSE(shape.attention_dropout);
  EXPECT_EQ(shape.max_positions, 32);
}

TEST(ModelConfig, KeyValueHeadsMustDivideTheHeads) {
  EXPECT_THAT(model_of(", num_query_groups: 3").problems(),
              ElementsAre("E132: model.num_query_groups = 3 does not divide the 8 attention heads"));
}

TEST(ModelConfig, HeadsMustDivideTheHiddenSizeUnlessTheirSizeIsGiven) {
  const auto problems = [](const std::string& more) {
    return JobText(
               "model: {num_layers: 2, hidden_size: 1023, num_attention_heads: 16, vocab_size: 100, seq_length: 16" +
                   more + "}\ntraining: {global_batch: 1}\n",
               1)
        .problems();
  };
  EXPECT_THAT(problems(""), ElementsAre("E132: model.hidden_size = 1023 is not a multiple of the 16 attention heads"
                                        " | or give the size of a head in model.kv_channels"));
  EXPECT_THAT(problems(", kv_channels: 64"), IsEmpty());
}

TEST(ModelConfig, SequencesMustFitTheLearnedPositions) {
  EXPECT_THAT(model_of(", position_embedding: learned, max_position_embeddings: 8").problems(),
              ElementsAre("E132: model.seq_length = 16 is longer than the learned position table of 8 rows"
                          " | set model.max_position_embeddings to at least 16"));
}

TEST(ModelConfig, AMaxPositionTableIsAnUnknownKeyOfARotaryModel) {
  ASSERT_EQ(model_of(", max_position_embeddings: 8").problems().size(), 1U);
}

TEST(ModelConfig, AScenarioMayOverrideAPreset) {
  const JobText job("model: {preset: llama3-8b, seq_length: 4096, num_layers: 16}\ntraining: {global_batch: 1}\n", 1);
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.shape.sequence, 4096);
  EXPECT_EQ(job.shape.layers, 16);
  EXPECT_EQ(job.shape.hidden, 4096);
}

// Megatron-LM's qk_layernorm is the norm of the latent vectors there (gpt_layer_specs.py), which they always have here.
TEST(ModelConfig, LatentAttentionHasNoNormOfEachHead) {
  const std::string latent =
      ", multi_latent_attention: true, kv_lora_rank: 16, qk_head_dim: 8, qk_pos_emb_head_dim: 4, v_head_dim: 8";
  EXPECT_TRUE(model_of(", qk_layernorm: true").shape.query_key_norm);
  EXPECT_FALSE(model_of(latent + ", qk_layernorm: true").shape.query_key_norm);
}

TEST(ModelConfig, KeysOfExpertsNeedTheirNumber) {
  EXPECT_THAT(model_of(", moe_router_topk: 2").problems(),
              ElementsAre(HasSubstr("E132: model.moe_router_topk needs model.num_experts, which is missing")));
  EXPECT_THAT(model_of(", num_experts: 0, moe_router_topk: 2").problems(),
              ElementsAre(HasSubstr("W131: model.moe_router_topk has no effect: model.num_experts is 0")));
}

TEST(ModelConfig, GroupsOfExpertsHaveNoEffectWithoutALimit) {
  const std::string experts = ", num_experts: 8, moe_router_topk: 2, moe_router_num_groups: 4";
  EXPECT_THAT(model_of(experts).problems(),
              ElementsAre(HasSubstr("W131: model.moe_router_num_groups = 4 has no effect without")));
  EXPECT_THAT(model_of(experts + ", moe_router_group_topk: 2").problems(), IsEmpty());
}

TEST(ModelConfig, GroupsThatATokenMayUseHoldItsExperts) {
  const std::string experts = ", num_experts: 8, moe_router_topk: 3, moe_router_num_groups: 4";
  EXPECT_THAT(model_of(experts + ", moe_router_group_topk: 1").problems(),
              ElementsAre(HasSubstr("model.moe_router_group_topk = 1 of 4 groups have 2 experts, fewer than "
                                    "model.moe_router_topk = 3")));
  EXPECT_THAT(model_of(experts + ", moe_router_group_topk: 2").problems(), IsEmpty());
}

TEST(ModelConfig, EveryErrorCodeOfTheWorkloadHasAPage) {
  std::vector<std::string_view> codes;
  for (const ErrorCode& code : workload_error_codes()) {
    codes.push_back(code.code);
    EXPECT_FALSE(code.explanation.empty()) << code.code;
    EXPECT_FALSE(code.example.empty()) << code.code;
  }
  EXPECT_THAT(
      codes, ElementsAre("E130", "E131", "E132", "E133", "E134", "E135", "E136", "E137", "E138", "E139", "E140", "E141",
                         "E144", "E145", "E146", "E147", "E370", "E460", "E461", "E463", "E464", "E592", "W135", "W136",
                         "W131", "W134", "W142", "W143", "E570", "E571", "E572", "E573", "E574", "E593", "W570"));
}

}  // namespace
}  // namespace ringwright::workload::model_config_test
