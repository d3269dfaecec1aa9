// Families of models by their published config.json: numbers of parameters, windows, norms, experts.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/huggingface/imported_model.h"

namespace ringwright::configs::model_families_test {
namespace {

using namespace workload;

using testing::HasSubstr;

// `keys`: of config.json, in YAML's flow style.
Imported import_keys(const std::string& keys, int sequence = 4096) {
  return import_model("{" + keys + "}", sequence);
}

struct Published {
  const char* keys;
  double parameters;  // of the checkpoint
};

// config.json of the named repositories. Of norms of other sizes than one head's (OLMo 2: all heads at once) the
// counts differ by 30 millionths.
constexpr Published kPublished[] = {
    // google/gemma-2-27b
    {"model_type: gemma2, head_dim: 128, hidden_activation: gelu_pytorch_tanh, hidden_size: 4608, intermediate_size: "
     "36864, num_attention_heads: 32, num_hidden_layers: 46, num_key_value_heads: 16, sliding_window: 4096, "
     "vocab_size: 256000",
     27'227'128'320.0},
    // allenai/OLMo-2-1124-13B
    {"model_type: olmo2, hidden_size: 5120, intermediate_size: 13824, num_attention_heads: 40, num_hidden_layers: 40, "
     "num_key_value_heads: 40, vocab_size: 100352, tie_word_embeddings: false",
     13'716'198'400.0},
    // HuggingFaceTB/SmolLM3-3B
    {"model_type: smollm3, hidden_size: 2048, intermediate_size: 11008, num_attention_heads: 16, num_hidden_layers: "
     "36, num_key_value_heads: 4, vocab_size: 128256",
     3'075'098'624.0},
    // internlm/internlm2-7b
    {"model_type: internlm2, bias: false, hidden_size: 4096, intermediate_size: 14336, num_attention_heads: 32, "
     "num_hidden_layers: 32, num_key_value_heads: 8, vocab_size: 92544, tie_word_embeddings: false",
     7'737'708'544.0},
    // microsoft/phi-4
    {"model_type: phi3, hidden_size: 5120, intermediate_size: 17920, num_attention_heads: 40, num_hidden_layers: 40, "
     "num_key_value_heads: 10, vocab_size: 100352, tie_word_embeddings: false",
     14'659'507'200.0},
    // facebook/opt-6.7b
    {"model_type: opt, hidden_size: 4096, ffn_dim: 16384, num_attention_heads: 32, num_hidden_layers: 32, vocab_size: "
     "50272, max_position_embeddings: 2048",
     6'658'473'984.0},
    // bigscience/bloom-7b1
    {"model_type: bloom, n_embed: 4096, num_attention_heads: 32, n_layer: 30, vocab_size: 250880", 7'069'016'064.0},
    // mosaicml/mpt-7b
    {"model_type: mpt, d_model: 4096, n_heads: 32, n_layers: 32, vocab_size: 50432, attn_config: {alibi: true}",
     6'649'286'656.0},
    // databricks/dbrx-base
    {"model_type: dbrx, d_model: 6144, n_heads: 48, n_layers: 40, vocab_size: 100352, attn_config: {kv_n_heads: 8}, "
     "ffn_config: {ffn_hidden_size: 10752, moe_num_experts: 16, moe_top_k: 4}",
     131'596'523'520.0},
};

TEST(HfFamilies, HaveThePublishedNumberOfParameters) {
  for (const Published& published : kPublished) {
    const Imported imported = import_keys(published.keys, 2048);
    EXPECT_EQ(imported.problems, "") << published.keys;
    EXPECT_NEAR(static_cast<double>(parameters(imported.shape)) / published.parameters, 1.0, 1e-4) << published.keys;
  }
}

constexpr const char* kGemma3 =
    "model_type: gemma3, text_config: {model_type: gemma3_text, head_dim: 128, hidden_size: 5376, intermediate_size: "
    "21504, num_attention_heads: 32, num_hidden_layers: 62, num_key_value_heads: 16, sliding_window: 1024, "
    "vocab_size: 262208}";

TEST(HfFamilies, GemmaAlternatesWindowsAndHasFourNorms) {
  const ModelShape third = import_keys(kGemma3).shape;
  EXPECT_EQ(parameters(third), 27'009'346'304);
  EXPECT_TRUE(third.sandwich_norm);
  EXPECT_TRUE(third.query_key_norm);
  EXPECT_EQ(third.embeddings, Embeddings::kTied);
  EXPECT_EQ(third.window, 1024);
  for (int layer = 0; layer < 62; ++layer) EXPECT_EQ(is_windowed(third, layer), layer % 6 != 5) << layer;
  const ModelShape second = import_keys(kPublished[0].keys, 8192).shape;
  EXPECT_TRUE(is_windowed(second, 0));
  EXPECT_FALSE(is_windowed(second, 1));
}

const std::string kLlama4 =
    "attention_chunk_size: 8192, head_dim: 128, hidden_size: 5120, intermediate_size: 8192, intermediate_size_mlp: "
    "16384, num_attention_heads: 40, num_experts_per_tok: 1, num_hidden_layers: 48, num_key_value_heads: 8, "
    "vocab_size: 202048, model_type: llama4_text, max_position_embeddings: 10485760, tie_word_embeddings: false, ";

// Model card of Llama 4: 109 B and 400 B parameters with the vision encoder, 17 B of one token.
TEST(HfFamilies, LlamaFourHasASharedExpertAndDenseLayersOfTheirOwnWidth) {
  const Imported scout =
      import_keys(kLlama4 + "num_local_experts: 16, interleave_moe_layer_step: 1, use_qk_norm: true");
  EXPECT_EQ(scout.problems, "");
  EXPECT_NEAR(static_cast<double>(parameters(scout.shape)), 107.77e9, 0.01e9);
  EXPECT_NEAR(static_cast<double>(active_parameters(scout.shape)), 17.2e9, 0.1e9);
  const ModelShape maverick =
      import_keys(kLlama4 + "num_local_experts: 128, interleave_moe_layer_step: 2, use_qk_norm: false").shape;
  EXPECT_NEAR(static_cast<double>(parameters(maverick)), 400.71e9, 0.01e9);
  EXPECT_FALSE(has_experts(maverick, 0));
  EXPECT_TRUE(has_experts(maverick, 1));
}

TEST(HfFamilies, LlamaFourAttendsToOneChunkInThreeLayersOfFour) {
  const std::string scout = kLlama4 + "num_local_experts: 16, no_rope_layers: [1, 1, 1, 0, 1, 1, 1, 0]";
  EXPECT_FALSE(is_windowed(import_keys(scout, 8192).shape, 0));  // one chunk holds the sequence
  const Imported longer = import_keys(scout, 32'768);
  EXPECT_TRUE(is_windowed(longer.shape, 0));
  EXPECT_FALSE(is_windowed(longer.shape, 3));
  EXPECT_THAT(longer.problems, HasSubstr("attention within chunks of 8192 tokens is costed as a window"));
}

// Model cards: 229 B with 10 B of one token; 300 B with 47 B.
TEST(HfFamilies, ExpertsByOtherNames) {
  const ModelShape minimax =
      import_keys(
          "model_type: minimax_m2, hidden_size: 3072, intermediate_size: 1536, num_attention_heads: 48, "
          "num_experts_per_tok: 8, num_hidden_layers: 62, num_key_value_heads: 8, num_local_experts: 256, "
          "vocab_size: 200064, tie_word_embeddings: false")
          .shape;
  EXPECT_NEAR(static_cast<double>(parameters(minimax)), 228.7e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>(active_parameters(minimax)), 10e9, 1.3e9);  // with both embeddings, 0.6 B each
  const std::string ernie =
      "model_type: ernie4_5_moe, hidden_size: 8192, intermediate_size: 28672, moe_intermediate_size: 3584, moe_k: 8, "
      "moe_num_experts: 64, moe_layer_start_index: 3, num_attention_heads: 64, num_hidden_layers: 54, "
      "num_key_value_heads: 8, vocab_size: 103424, tie_word_embeddings: false";
  EXPECT_NEAR(static_cast<double>(parameters(import_keys(ernie).shape)), 300e9, 1e9);
  EXPECT_FALSE(has_experts(import_keys(ernie).shape, 2));
  EXPECT_THAT(import_keys(ernie + ", moe_layer_end_index: 40").problems, HasSubstr("E133"));
}

// Model card of Granite 4.0 H Small: 32 B parameters, 9 B of one token; 36 layers of Mamba-2 and four of attention.
TEST(HfFamilies, GraniteHybridsHaveAMixerAndExpertsInEachLayer) {
  std::string types;
  for (int layer = 0; layer < 40; ++layer) types += layer % 10 == 5 ? "attention, " : "mamba, ";
  const std::string small =
      "model_type: granitemoehybrid, hidden_size: 4096, intermediate_size: 768, num_hidden_layers: 40, "
      "num_local_experts: 72, num_experts_per_tok: 10, shared_intermediate_size: 1536, num_attention_heads: 32, "
      "num_key_value_heads: 8, mamba_n_heads: 128, mamba_d_state: 128, mamba_d_head: 64, vocab_size: 100352, "
      "tie_word_embeddings: true, layer_types: [" +
      types + "]";
  const Imported imported = import_keys(small);
  EXPECT_EQ(imported.problems, "");
  EXPECT_NEAR(static_cast<double>(parameters(imported.shape)), 32.2e9, 0.3e9);
  EXPECT_NEAR(static_cast<double>(active_parameters(imported.shape)), 9e9, 0.5e9);
  EXPECT_EQ(imported.shape.hybrid->order.substr(8, 6), "ME*EME");
  EXPECT_THAT(import_keys(small + ", num_hidden_layers: 41").problems, HasSubstr("num_hidden_layers"));
}

TEST(HfFamilies, FullLayersAtNoPeriodAreRefused) {
  const std::string gemma =
      "model_type: gemma2, hidden_size: 256, intermediate_size: 512, num_attention_heads: 8, num_hidden_layers: 4, "
      "num_key_value_heads: 2, head_dim: 32, vocab_size: 1000, layer_types: ";
  EXPECT_EQ(import_keys(gemma + "[sliding_attention, full_attention, sliding_attention, full_attention]").problems, "");
  EXPECT_THAT(import_keys(gemma + "[full_attention, sliding_attention, sliding_attention, full_attention]").problems,
              HasSubstr("E133"));
}

TEST(HfFamilies, TextModelsOfMultimodalOnesAreKnown) {
  const Imported qwen = import_keys(
      "model_type: qwen3_vl, text_config: {model_type: qwen3_vl_text, head_dim: 128, hidden_size: 4096, "
      "intermediate_size: 12288, num_attention_heads: 32, num_hidden_layers: 36, num_key_value_heads: 8, "
      "vocab_size: 151936, tie_word_embeddings: false}");
  EXPECT_EQ(parameters(qwen.shape), 8'190'735'360);
  EXPECT_THAT(qwen.problems, HasSubstr("only its text model is costed"));
}

}  // namespace
}  // namespace ringwright::configs::model_families_test
