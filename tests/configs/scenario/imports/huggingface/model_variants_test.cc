// Keys of config.json by which models of one family differ: biases, windows, tied embeddings.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/imports/huggingface/model_import.h"
#include "core/config/config_document.h"

namespace ringwright::configs::model_variants_test {
namespace {

using namespace workload;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kLayers = 4, kHidden = 256, kFfn = 512, kHeads = 8, kKeys = 2, kHead = 32, kVocabulary = 1000;

struct Variant {
  ModelShape shape;
  std::vector<std::string> warnings;
  std::vector<std::string> ignored;
};

Variant read(const std::string& family, const std::string& more) {
  const std::string text = R"({"model_type": ")" + family +
                           R"(", "num_hidden_layers": 4, "hidden_size": 256, "intermediate_size": 512,
                               "num_attention_heads": 8, "vocab_size": 1000, "head_dim": 32,
                               "max_position_embeddings": 4096, "hidden_act": "silu")" +
                           (more.empty() ? "" : ", " + more) + "}";
  ConfigDocument config = ConfigDocument::load_text("config.json", text).value();
  ConfigDocument scenario = ConfigDocument::load_text("job.yaml", "model: {seq_length: 4096}\n").value();
  ConfigMap root = config.root();
  ConfigMap model = scenario.root().map("model", "the model");
  Variant variant{.shape = read_hf_model(root, model), .warnings = {}, .ignored = {}};
  model.note_values("hf", config.log());
  for (const Diagnostic& found : config.log().diagnostics().all()) variant.warnings.push_back(found.message);
  for (const IgnoredKey& key : scenario.log().ignored()) variant.ignored.push_back(key.path);
  return variant;
}

const std::string kKeyHeads = R"("num_key_value_heads": 2, "tie_word_embeddings": false)";
const std::string kExperts = R"(, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, )"
                             R"("shared_expert_intermediate_size": 64)";

std::int64_t more_parameters(const std::string& family, const std::string& base, const std::string& keys) {
  return parameters(read(family, base + ", " + keys).shape) - parameters(read(family, base).shape);
}

constexpr std::int64_t kQkv = (kHeads + 2 * kKeys) * kHead;

// transformers, modeling_*.py: which linear layers take which switch.
TEST(HfVariants, SwitchesOfBiasesCountAsTheFamilyUsesThem) {
  EXPECT_EQ(more_parameters("llama", kKeyHeads, R"("attention_bias": true)"), kLayers * (kQkv + kHidden));
  EXPECT_EQ(more_parameters("llama", kKeyHeads, R"("mlp_bias": true)"), kLayers * (2 * kFfn + kHidden));
  EXPECT_EQ(more_parameters("llama", kKeyHeads, R"("mlp_bias": true, "attention_bias": true)"),
            kLayers * (kQkv + 2 * kFfn + 2 * kHidden));
  EXPECT_EQ(more_parameters("qwen3", kKeyHeads, R"("attention_bias": true)"), kLayers * (kQkv + kHidden));
  EXPECT_EQ(more_parameters("qwen3_moe", kKeyHeads + kExperts, R"("attention_bias": true)"),
            kLayers * (kQkv + kHidden));
  EXPECT_EQ(more_parameters("qwen2_moe", kKeyHeads + kExperts, R"("qkv_bias": false)"), -kLayers * kQkv);
  EXPECT_EQ(more_parameters("cohere", kKeyHeads, R"("attention_bias": true)"), kLayers * (kQkv + kHidden));
  EXPECT_EQ(more_parameters("gpt_neox", R"("tie_word_embeddings": false)", R"("attention_bias": false)"),
            -kLayers * 4 * kHidden);
}

TEST(HfVariants, KeysThatAFamilyDoesNotReadAreListed) {
  const Variant mistral = read("mistral", kKeyHeads + R"(, "mlp_bias": true, "rope_theta": 1e6)");
  EXPECT_EQ(mistral.shape.biases, kNoBiases);
  EXPECT_THAT(mistral.ignored, ElementsAre("model.hf.mlp_bias", "model.hf.rope_theta"));
}

TEST(HfVariants, AMisspeltKeyIsWarnedAbout) {
  EXPECT_THAT(read("llama", R"("num_key_value_head": 2, "tie_word_embeddings": false)").warnings,
              ElementsAre("'num_key_value_head' is not read; did you mean 'num_key_value_heads'?"));
}

// Command R states only what differs from its class, which ties the embeddings.
TEST(HfVariants, WhatIsLeftOutIsTheDefaultOfTheFamily) {
  EXPECT_EQ(read("cohere", R"("num_key_value_heads": 2)").shape.embeddings, Embeddings::kTied);
  EXPECT_EQ(read("llama", R"("num_key_value_heads": 2)").shape.embeddings, Embeddings::kUntied);
  EXPECT_EQ(read("mistral", "").shape.kv_heads, 8);
  EXPECT_EQ(read("mistral", "").shape.window, 0);  // 4096, the longest sequence
  EXPECT_EQ(read("mistral", R"("num_key_value_heads": null)").shape.kv_heads, kHeads);
}

TEST(HfVariants, ADropoutOfProbabilitiesIsSimulated) {
  EXPECT_TRUE(read("llama", kKeyHeads + R"(, "attention_dropout": 0.1)").shape.attention_dropout);
  EXPECT_TRUE(read("phi3", kKeyHeads + R"(, "resid_pdrop": 0.1)").shape.hidden_dropout);
}

// Phi-3-mini-4k: the published checkpoint.
TEST(HfVariants, ReadsPhi3) {
  ConfigDocument config =
      ConfigDocument::load_text("config.json",
                                R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
                                    "num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 32,
                                    "vocab_size": 32064, "max_position_embeddings": 4096, "sliding_window": 2047,
                                    "tie_word_embeddings": false})")
          .value();
  ConfigDocument scenario = ConfigDocument::load_text("job.yaml", "model: {seq_length: 4096}\n").value();
  ConfigMap root = config.root();
  ConfigMap model = scenario.root().map("model", "the model");
  const ModelShape phi = read_hf_model(root, model);
  EXPECT_EQ(parameters(phi), 3'821'079'552);
  EXPECT_EQ(phi.window, 2047);
}

TEST(HfVariants, QwensWindowBeginsAtALayer) {
  const auto window = [](const std::string& family, const std::string& more, const std::string& from) {
    return read(family, kKeyHeads + more + R"(, "sliding_window": 1024, "use_sliding_window": true, )" +
                            R"("max_window_layers": )" + from);
  };
  for (const auto& [family, more] : {std::pair<std::string, std::string>{"qwen2", ""}, {"qwen2_moe", kExperts}}) {
    EXPECT_EQ(window(family, more, "0").shape.window, 1024);
    EXPECT_EQ(window(family, more, "4").shape.window, 0);
    EXPECT_THAT(window(family, more, "4").warnings, IsEmpty());
    EXPECT_EQ(window(family, more, "2").shape.window, 0);
    EXPECT_THAT(window(family, more, "2").warnings, ElementsAre(HasSubstr("in 2 of 4 layers is not modelled")));
  }
}

TEST(HfVariants, LayerTypesSayWhichLayersOfQwenHaveTheWindow) {
  const auto window = [](const std::string& types) {
    return read("qwen3",
                kKeyHeads + R"(, "sliding_window": 1024, "use_sliding_window": true, "layer_types": [)" + types + "]")
        .shape;
  };
  const std::string full = R"("full_attention")", sliding = R"("sliding_attention")";
  EXPECT_EQ(window(fmt::format("{0}, {0}, {0}, {0}", full)).window, 0);
  EXPECT_EQ(window(fmt::format("{0}, {0}, {0}, {0}", sliding)).window, 1024);
  EXPECT_EQ(read("qwen3", kKeyHeads + R"(, "layer_types": null, "sliding_window": null)").warnings.size(), 0U);
  const ModelShape alternating = window(fmt::format("{0}, {1}, {0}, {1}", sliding, full));
  EXPECT_TRUE(is_windowed(alternating, 0));
  EXPECT_FALSE(is_windowed(alternating, 1));
}

TEST(HfVariants, ALearnedTableOfPositionsBoundsTheSequence) {
  ConfigDocument config = ConfigDocument::load_text("config.json",
                                                    R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 128,
                                                        "n_head": 4, "n_positions": 256, "vocab_size": 1000})")
                              .value();
  ConfigDocument scenario = ConfigDocument::load_text("job.yaml", "model: {seq_length: 512}\n").value();
  ConfigMap root = config.root();
  ConfigMap model = scenario.root().map("model", "the model");
  static_cast<void>(read_hf_model(root, model));
  EXPECT_THAT(
      render(scenario.log().diagnostics()),
      HasSubstr("job.yaml:1:21: error[E132]: model.seq_length = 512 is longer than the learned position table"));
}

TEST(HfVariants, TiedEmbeddingsOfTheWholeAndOfItsTextModelMayDiffer) {
  const std::string text = R"("num_hidden_layers": 4, "hidden_size": 256, "intermediate_size": 512, "head_dim": 32,
                              "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000,
                              "max_position_embeddings": 4096, "hidden_act": "silu")";
  ConfigDocument config =
      ConfigDocument::load_text("config.json", R"({"model_type": "llava", "tie_word_embeddings": true,
                                                   "text_config": {"model_type": "llama", )" +
                                                   text + "}}")
          .value();
  ConfigDocument scenario = ConfigDocument::load_text("job.yaml", "model: {seq_length: 4096}\n").value();
  ConfigMap root = config.root();
  ConfigMap model = scenario.root().map("model", "the model");
  EXPECT_EQ(read_hf_model(root, model).embeddings, Embeddings::kUntied);
  ASSERT_EQ(config.log().diagnostics().all().size(), 2U);
  EXPECT_EQ(config.log().diagnostics().all()[1].message,
            "tie_word_embeddings is true here, but false in text_config by default, which is used");
}

}  // namespace
}  // namespace ringwright::configs::model_variants_test
