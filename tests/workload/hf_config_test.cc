#include "tests/paths.h"
#include "workload/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::workload {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Reading {
  explicit Reading(Result<ConfigDocument> loaded, const std::string& model_text = "model: {seq_length: 2048}\n")
      : config(std::move(loaded.value())), scenario(ConfigDocument::load_text("job.yaml", model_text).value()) {
    ConfigMap root = config.root();
    ConfigMap model = scenario.root().map("model", "the model");
    shape = read_hf_model(root, model);
    config.check_all_read();
  }
  static Reading of_file(const std::string& name) {
    return Reading(ConfigDocument::load(ringwright::test_data() + "/workload/hf/" + name));
  }
  static Reading of_text(const std::string& text) { return Reading(ConfigDocument::load_text("config.json", text)); }

  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> result;
    for (const Diagnostic& diagnostic : config.log().diagnostics().all()) {
      result.push_back(diagnostic.code + ": " + diagnostic.message +
                       (diagnostic.hint.empty() ? "" : " | " + diagnostic.hint));
    }
    return result;
  }
  [[nodiscard]] std::vector<std::string> assumed() const {
    std::vector<std::string> result;
    for (const Assumption& assumption : config.log().assumptions())
      result.push_back(assumption.path + " = " + assumption.value);
    return result;
  }

  ConfigDocument config;
  ConfigDocument scenario;
  ModelShape shape;
};

TEST(HfConfig, ReadsLlama) {
  const Reading llama = Reading::of_file("llama3-8b.json");
  EXPECT_THAT(llama.problems(), IsEmpty());
  EXPECT_EQ(parameters(llama.shape), 8'030'261'248);  // the published checkpoint
  EXPECT_EQ(llama.shape.name, "llama");
  EXPECT_EQ(llama.shape.sequence, 2048);
  EXPECT_THAT(llama.assumed(), ElementsAre("head_dim = 128"));
}

TEST(HfConfig, ReadsGpt2) {
  const Reading gpt2 = Reading::of_file("gpt2.json");
  EXPECT_THAT(gpt2.problems(), IsEmpty());
  EXPECT_EQ(parameters(gpt2.shape), 124'439'808);  // the published checkpoint
  EXPECT_FALSE(gpt2.shape.hidden_dropout);
  EXPECT_TRUE(gpt2.shape.attention_dropout);
  EXPECT_THAT(gpt2.assumed(), UnorderedElementsAre("n_inner = 3072", "tie_word_embeddings = true"));
}

TEST(HfConfig, ReadsQwen2WithBiasesThatItsFileDoesNotMention) {
  const Reading qwen = Reading::of_file("qwen2-0.5b.json");
  EXPECT_THAT(qwen.problems(), IsEmpty());
  EXPECT_EQ(parameters(qwen.shape), 494'032'768);  // the published checkpoint
}

TEST(HfConfig, ReadsQwen3WithHeadsOfTheirOwnSizeAndNorms) {
  const Reading qwen = Reading::of_file("qwen3-0.6b.json");
  EXPECT_THAT(qwen.problems(), IsEmpty());
  EXPECT_EQ(parameters(qwen.shape), 596'049'920);  // the published checkpoint, tied weights once
}

TEST(HfConfig, ListsEverythingThatItAssumed) {
  const Reading mistral = Reading::of_file("mistral-sparse.json");
  EXPECT_THAT(mistral.assumed(), ElementsAre("num_key_value_heads = 32", "head_dim = 128", "hidden_act = silu",
                                             "tie_word_embeddings = false"));
  EXPECT_THAT(
      mistral.problems(),
      ElementsAre("W134: sliding-window attention (4096 tokens) is not modelled: full causal attention is used"));
}

TEST(HfConfig, TakesTheLongestSequenceWhenNoneIsGiven) {
  Reading reading(ConfigDocument::load(ringwright::test_data() + "/workload/hf/llama3-8b.json"), "model: {name: mine}\n");
  EXPECT_EQ(reading.shape.sequence, 8192);
  EXPECT_EQ(reading.shape.name, "mine");
  ASSERT_EQ(reading.scenario.log().assumptions().size(), 1U);
  EXPECT_EQ(reading.scenario.log().assumptions()[0].path, "model.seq_length");
}

TEST(HfConfig, AnUnknownFamilyNamesTheKnownOnes) {
  EXPECT_THAT(Reading::of_text("{\"model_type\": \"t5\", \"d_model\": 512}").problems(),
              ElementsAre("E133: model_type 't5' is not known | supported: llama, mistral, qwen2, qwen3, gpt2"));
}

TEST(HfConfig, MixturesOfExpertsAreRefused) {
  EXPECT_THAT(
      Reading::of_text("{\"model_type\": \"mixtral\", \"num_local_experts\": 8}").problems(),
      ElementsAre(
          "E133: mixture-of-experts models ('mixtral') are not supported yet | supported dense families: llama, "
          "mistral, qwen2, qwen3, gpt2"));
}

TEST(HfConfig, MissingSizesAreErrors) {
  const Reading broken = Reading::of_text(
      "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"intermediate_size\": 128,"
      " \"vocab_size\": 100}");
  ASSERT_EQ(broken.problems().size(), 1U);
  EXPECT_THAT(broken.problems()[0], testing::HasSubstr("num_hidden_layers"));
}

}  // namespace
}  // namespace ringwright::workload
