// Decoders of Gated DeltaNet and gated attention by their published config.json.
#include "configs/scenario/imports/huggingface/delta_nets.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/huggingface/imported_model.h"

namespace ringwright::configs::delta_nets_test {
namespace {

using namespace workload;

using testing::HasSubstr;

// config.json of Qwen/Qwen3-Next-80B-A3B-Instruct.
const std::string kQwen3Next =
    R"("architectures": ["Qwen3NextForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 151643, "decoder_sparse_step": 1, "eos_token_id": 151645, "full_attention_interval": 4,
    "head_dim": 256, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 5120,
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    "linear_value_head_dim": 128, "max_position_embeddings": 262144, "mlp_only_layers": [], "model_type": "qwen3_next",
    "moe_intermediate_size": 512, "norm_topk_prob": true, "num_attention_heads": 16, "num_experts": 512,
    "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2, "output_router_logits": false,
    "partial_rotary_factor": 0.25, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 10000000,
    "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 512, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936)";

// Another value of a key of the file.
std::string with(std::string text, const std::string& old, const std::string& replaced) {
  return "{" + text.replace(text.find(old), old.size(), replaced) + "}";
}

std::string layer_types(int layers) {
  std::string types;
  for (int layer = 0; layer < layers; ++layer) {
    types += fmt::format("{}\"{}\"", layer == 0 ? "" : ", ", layer % 4 == 3 ? "full_attention" : "linear_attention");
  }
  return types;
}

// text_config of config.json of Qwen/Qwen3.5-35B-A3B.
std::string qwen35(const std::string& more) {
  return R"({"model_type": "qwen3_5_moe", "text_config": {"model_type": "qwen3_5_moe_text", "attention_bias": false,
    "attn_output_gate": true, "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 2048,
    "layer_types": [)" +
         layer_types(40) + R"(], "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
    "linear_num_value_heads": 32, "linear_value_head_dim": 128, "max_position_embeddings": 262144,
    "moe_intermediate_size": 512, "mtp_num_hidden_layers": 1, "num_attention_heads": 16, "num_experts": 256,
    "num_experts_per_tok": 8, "num_hidden_layers": 40, "num_key_value_heads": 2,
    "shared_expert_intermediate_size": 512, "tie_word_embeddings": false, "vocab_size": 248320)" +
         more + "}, \"vision_config\": {\"depth\": 27}}";
}

TEST(HfDeltaNets, Qwen3NextIsReadWhole) {
  const Imported imported = import_model("{" + kQwen3Next + "}");
  EXPECT_EQ(imported.problems, "");
  const ModelShape& shape = imported.shape;
  EXPECT_EQ(parameters(shape), 79'674'391'296);
  EXPECT_EQ(shape.delta_net->full_every, 4);
  EXPECT_TRUE(shape.output_gate);
  EXPECT_TRUE(shape.query_key_norm);
  EXPECT_TRUE(shape.experts->shared_gate);
  EXPECT_EQ(shape.predictors, 0);  // the file does not mention it
  EXPECT_EQ(import_model("{" + kQwen3Next + ", \"num_nextn_predict_layers\": 1}").shape.predictors, 1);
}

TEST(HfDeltaNets, TheTextModelOfQwen35IsRead) {
  const Imported imported = import_model(qwen35(""));
  EXPECT_EQ(imported.problems, "W134 a multimodal model: only its text model is costed");
  EXPECT_EQ(parameters(imported.shape), 34'660'610'688);  // 34.7 B
  EXPECT_EQ(imported.shape.predictors, 1);
  EXPECT_EQ(imported.shape.ffn, 512);
}

// Qwen3.5's dense models: 27 B with 64 layers.
TEST(HfDeltaNets, DenseModelsHaveAnMlp) {
  const Imported imported = import_model(
      R"({"model_type": "qwen3_5_text", "head_dim": 256, "hidden_act": "silu", "hidden_size": 5120,
      "intermediate_size": 17408, "linear_num_value_heads": 48, "num_attention_heads": 24, "num_hidden_layers": 64,
      "num_key_value_heads": 4, "vocab_size": 248320, "tie_word_embeddings": false})");
  EXPECT_EQ(imported.problems, "");
  EXPECT_EQ(imported.shape.delta_net->full_every, 4);
  EXPECT_FALSE(imported.shape.experts);
  EXPECT_NEAR(static_cast<double>(parameters(imported.shape)), 27e9, 0.3e9);
}

TEST(HfDeltaNets, OtherOrdersOfLayersAreRefused) {
  const auto problems = [](const std::string& types) {
    return import_model(with(kQwen3Next, "\"num_hidden_layers\": 48",
                             "\"num_hidden_layers\": 4, \"layer_types\": [" + types + "]"))
        .problems;
  };
  const std::string linear = "\"linear_attention\", ";
  const std::string full = "\"full_attention\"";
  EXPECT_THAT(problems(full + ", " + linear + linear + full), HasSubstr("E133 the layers of full_attention are not"));
  EXPECT_THAT(problems(linear + linear + linear + "\"linear_attention\""), HasSubstr("E133 no layer has"));
  EXPECT_THAT(problems(linear + full), HasSubstr("E133 there are 2 types for 4 layers"));
  EXPECT_THAT(problems(linear + linear + linear + "\"sliding_attention\""), HasSubstr("E133"));
}

TEST(HfDeltaNets, HeadsThatCannotBeSharedAreRefused) {
  EXPECT_THAT(import_model(with(kQwen3Next, "\"linear_num_key_heads\": 16", "\"linear_num_key_heads\": 5")).problems,
              HasSubstr("E460 linear_num_key_heads = 5 does not divide the 32 heads of values"));
}

// config.json of moonshotai/Kimi-Linear-48B-A3B-Base.
const std::string kKimiLinear =
    R"({"architectures": ["KimiLinearForCausalLM"], "bos_token_id": 163584, "dtype": "bfloat16", "eos_token_id": 163586,
    "first_k_dense_replace": 1, "head_dim": 72, "hidden_act": "silu", "hidden_size": 2304, "initializer_range": 0.02,
    "intermediate_size": 9216, "kv_lora_rank": 512, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
    "head_dim": 128, "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
    "num_heads": 32, "short_conv_kernel_size": 4}, "mla_use_nope": true, "model_max_length": 1048576,
    "model_type": "kimi_linear", "moe_intermediate_size": 1024, "moe_layer_freq": 1, "moe_renormalize": true,
    "moe_router_activation_func": "sigmoid", "num_attention_heads": 32, "num_expert_group": 1, "num_experts": 256,
    "num_experts_per_token": 8, "num_hidden_layers": 27, "num_key_value_heads": 32, "num_nextn_predict_layers": 0,
    "num_shared_experts": 1, "pad_token_id": 163839, "q_lora_rank": null, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 10000.0,
    "routed_scaling_factor": 2.446, "tie_word_embeddings": false, "topk_group": 1, "use_cache": true,
    "use_grouped_topk": true, "v_head_dim": 128, "vocab_size": 163840})";

std::string kimi_with(const std::string& old, const std::string& replaced) {
  std::string text = kKimiLinear;
  return text.replace(text.find(old), old.size(), replaced);
}

// The preset has the same layers.
TEST(HfDeltaNets, KimiLinearIsReadWhole) {
  const Imported imported = import_model(kKimiLinear);
  EXPECT_EQ(imported.problems, "");
  const ModelShape& shape = imported.shape;
  EXPECT_EQ(parameters(shape), 49'122'681'728 - 26 * 256);
  EXPECT_EQ(shape.positions, Positions::kNone);
  EXPECT_EQ(shape.max_positions, 1'048'576);
  ASSERT_TRUE(shape.delta_net);
  EXPECT_EQ(shape.delta_net->full_layers, (std::vector<std::int64_t>{3, 7, 11, 15, 19, 23, 26}));
  EXPECT_EQ(shape.delta_net->channels, (ChannelDecay{.decay_rank = 128, .gate_rank = 128}));
  EXPECT_FALSE(has_experts(shape, 0));
  EXPECT_TRUE(has_experts(shape, 1));
}

TEST(HfDeltaNets, LayersOfKimiLinearAreInOneList) {
  EXPECT_THAT(import_model(kimi_with("20, 24, 27]", "20, 24]")).problems,
              HasSubstr("E460 full_attn_layers and kda_layers do not list each of the 27 layers once"));
  EXPECT_THAT(import_model(kimi_with("[1, 2, 3, 5", "[1, 2, 3, 4")).problems, HasSubstr("E460"));
  EXPECT_THAT(import_model(kimi_with("\"mla_use_nope\": true", "\"mla_use_output_gate\": true")).problems,
              HasSubstr("E133 an output gate of latent attention is not modelled"));
}

}  // namespace
}  // namespace ringwright::configs::delta_nets_test
