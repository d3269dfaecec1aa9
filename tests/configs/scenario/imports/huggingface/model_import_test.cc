#include "configs/scenario/imports/huggingface/model_import.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::configs::model_import_test {
namespace {

using namespace workload;

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

std::string file(const std::string& name) {
  return ringwright::test_data() + "/configs/scenario/imports/huggingface/data/" + name;
}

struct Reading {
  explicit Reading(Result<ConfigDocument> loaded, const std::string& model_text = "model: {seq_length: 2048}\n")
      : config(std::move(loaded.value())), scenario(ConfigDocument::load_text("job.yaml", model_text).value()) {
    ConfigMap root = config.root();
    ConfigMap model = scenario.root().map("model", "the model");
    shape = read_hf_model(root, model);
    config.check_all_read();
  }
  static Reading of_file(const std::string& name) { return Reading(ConfigDocument::load(file(name))); }
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

// Elements of the published checkpoints.
TEST(HfConfig, ReadsFamiliesWithParallelHalves) {
  const Reading falcon = Reading::of_text(
      R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,)"
      R"( "vocab_size": 65024, "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false})");
  EXPECT_EQ(parameters(falcon.shape), 6'921'720'704);
  EXPECT_EQ(falcon.shape.order, BlockOrder::kParallelOneNorm);
  const Reading larger = Reading::of_text(
      R"({"model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60,)"
      R"( "vocab_size": 65024, "num_kv_heads": 8, "parallel_attn": true, "new_decoder_architecture": true})");
  EXPECT_EQ(parameters(larger.shape), 41'303'293'952);
  EXPECT_EQ(larger.shape.order, BlockOrder::kParallelTwoNorms);
  const Reading neox = Reading::of_text(
      R"({"model_type": "gpt_neox", "hidden_size": 6144, "num_attention_heads": 64, "num_hidden_layers": 44,)"
      R"( "intermediate_size": 24576, "vocab_size": 50432, "max_position_embeddings": 2048})");
  EXPECT_EQ(parameters(neox.shape), 20'554'567'680);
  EXPECT_EQ(neox.shape.order, BlockOrder::kParallelTwoNorms);
  const Reading command = Reading::of_text(
      R"({"model_type": "cohere", "hidden_size": 8192, "num_attention_heads": 64, "num_hidden_layers": 40,)"
      R"( "intermediate_size": 22528, "vocab_size": 256000, "tie_word_embeddings": true})");
  EXPECT_EQ(parameters(command.shape), 34'980'831'232);
  // Without the biases of the output layer, one for each of 51,200 tokens.
  const Reading phi = Reading::of_text(
      R"({"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32, "num_hidden_layers": 32,)"
      R"( "intermediate_size": 10240, "vocab_size": 51200})");
  EXPECT_EQ(parameters(phi.shape), 2'779'683'840 - 51'200);
  // With biases in the attention, 16,384 a layer, and without those of the output layer.
  const Reading gptj =
      Reading::of_text(R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_layer": 28, "vocab_size": 50400})");
  EXPECT_EQ(parameters(gptj.shape), 6'050'882'784 + 28 * 16'384 - 50'400);
  EXPECT_EQ(gptj.shape.order, BlockOrder::kParallelOneNorm);
}

// The model cards: GLM-4.5 has 355 B parameters, the predictor included, whose checkpoint of 358 B holds the embedding
// and the output layer twice; GLM-4.5-Air 106 B; Kimi K2 a trillion.
TEST(HfConfig, ReadsGlmAndKimi) {
  const Reading glm = Reading::of_text(
      R"({"model_type": "glm4_moe", "attention_bias": true, "use_qk_norm": true, "head_dim": 128, "hidden_size": 5120,)"
      R"( "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 1,)"
      R"( "num_experts_per_tok": 8, "first_k_dense_replace": 3, "n_group": 1, "topk_group": 1, "vocab_size": 151552,)"
      R"( "num_attention_heads": 96, "num_key_value_heads": 8, "num_hidden_layers": 92,)"
      R"( "num_nextn_predict_layers": 0, "tie_word_embeddings": false, "max_position_embeddings": 131072})");
  EXPECT_THAT(glm.problems(), IsEmpty());
  EXPECT_EQ(glm.shape.biases, kQkvBiases);
  EXPECT_TRUE(glm.shape.query_key_norm);
  EXPECT_EQ(glm.shape.experts->dense_layers, 3);
  EXPECT_NEAR(static_cast<double>(parameters(glm.shape)), 352.7e9, 0.5e9);
  const Reading air = Reading::of_text(
      R"({"model_type": "glm4_moe", "attention_bias": true, "head_dim": 128, "hidden_size": 4096,)"
      R"( "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 1,)"
      R"( "num_experts_per_tok": 8, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "vocab_size": 151552,)"
      R"( "num_attention_heads": 96, "num_key_value_heads": 8, "num_hidden_layers": 46,)"
      R"( "num_nextn_predict_layers": 0, "tie_word_embeddings": false, "max_position_embeddings": 131072})");
  EXPECT_FALSE(air.shape.query_key_norm);
  EXPECT_NEAR(static_cast<double>(parameters(air.shape)), 106e9, 1.5e9);
  const Reading kimi = Reading::of_text(
      R"({"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,)"
      R"( "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,)"
      R"( "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,)"
      R"( "v_head_dim": 128, "num_attention_heads": 64, "num_key_value_heads": 64, "num_hidden_layers": 61,)"
      R"( "num_nextn_predict_layers": 0, "n_group": 1, "topk_group": 1, "moe_layer_freq": 1, "vocab_size": 163840,)"
      R"( "tie_word_embeddings": false, "max_position_embeddings": 131072})");
  EXPECT_THAT(kimi.problems(), IsEmpty());
  EXPECT_NEAR(static_cast<double>(parameters(kimi.shape)), 1026e9, 2e9);
}

TEST(HfConfig, NeoxWithoutParallelResidualIsSequential) {
  const Reading neox = Reading::of_text(
      R"({"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 6,)"
      R"( "intermediate_size": 2048, "vocab_size": 50304, "use_parallel_residual": false})");
  EXPECT_EQ(neox.shape.order, BlockOrder::kSequential);
}

TEST(HfConfig, ListsEverythingThatItAssumed) {
  const Reading mistral = Reading::of_file("mistral-sparse.json");
  EXPECT_THAT(mistral.assumed(), ElementsAre("num_key_value_heads = 8", "head_dim = 128", "hidden_act = silu",
                                             "tie_word_embeddings = false"));
  EXPECT_THAT(mistral.problems(), IsEmpty());
  EXPECT_EQ(mistral.shape.window, 4096);
}

TEST(HfConfig, TakesTheLongestSequenceWhenNoneIsGiven) {
  Reading reading(ConfigDocument::load(file("llama3-8b.json")), "model: {name: mine}\n");
  EXPECT_EQ(reading.shape.sequence, 8192);
  EXPECT_EQ(reading.shape.name, "mine");
  ASSERT_EQ(reading.scenario.log().assumptions().size(), 1U);
  EXPECT_EQ(reading.scenario.log().assumptions()[0].path, "model.seq_length");
}

TEST(HfConfig, HeadsMustFitTogether) {
  const auto problems = [](const std::string& heads) {
    return Reading::of_text(
               "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"intermediate_size\": 64, "
               "\"vocab_size\": 100, \"max_position_embeddings\": 64, " +
               heads + "}")
        .problems();
  };
  EXPECT_THAT(problems(R"("hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 16)"),
              testing::ElementsAre("E132: num_key_value_heads = 16 does not divide the 8 attention heads"));
  EXPECT_THAT(problems(R"("hidden_size": 1023, "num_attention_heads": 16)"),
              testing::ElementsAre("E132: hidden_size = 1023 is not a multiple of the 16 attention heads"
                                   " | or give the size of a head in head_dim"));
  EXPECT_THAT(problems(R"("hidden_size": 1023, "num_attention_heads": 16, "head_dim": 64)"), testing::IsEmpty());
}

TEST(HfConfig, AnUnknownFamilyNamesTheKnownOnes) {
  const std::vector<std::string> problems =
      Reading::of_text("{\"model_type\": \"t5\", \"d_model\": 512}").problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], StartsWith("E107: 'model_type' is 't5', which is not supported | supported: llama, "));
  EXPECT_THAT(problems[0], HasSubstr(", cohere2; describe others with explicit sizes in `model`"));
}

TEST(HfConfig, ReadsMixtral) {
  const Reading mixtral = Reading::of_file("mixtral-8x7b.json");
  EXPECT_THAT(mixtral.problems(), IsEmpty());
  EXPECT_EQ(parameters(mixtral.shape), 46'702'792'704);  // the published checkpoint
  EXPECT_EQ(mixtral.shape.window, 0);
}

TEST(HfConfig, ReadsQwen3WithExperts) {
  const Reading qwen = Reading::of_file("qwen3-30b-a3b.json");
  EXPECT_THAT(qwen.problems(), IsEmpty());
  EXPECT_EQ(parameters(qwen.shape), 30'532'122'624);  // the published checkpoint
}

TEST(HfConfig, ReadsDeepSeekWithLatentAttention) {
  const Reading deepseek = Reading::of_file("deepseek-v3.json");
  EXPECT_THAT(deepseek.problems(), IsEmpty());
  // 671 B (arXiv 2412.19437). The checkpoint also counts a bias of the router's choice, 256 in each of 58 layers.
  EXPECT_EQ(parameters(deepseek.shape) + 58 * 256, 671'026'419'200);
  EXPECT_EQ(deepseek.shape.predictors, 1);
  EXPECT_THAT(deepseek.assumed(), IsEmpty());
}

// Two layers of Mamba-2, one of attention, one of experts, with the sizes of config.json.
TEST(HfConfig, ReadsAHybridModelOfMambaAndAttention) {
  const std::string sizes =
      R"({"model_type": "nemotron_h", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96, "vocab_size": 100,
          "max_position_embeddings": 32, "tie_word_embeddings": false, "mamba_num_heads": 8, "mamba_head_dim": 16,
          "n_groups": 2, "ssm_state_size": 32, "chunk_size": 8, "conv_kernel": 4, "n_routed_experts": 4,
          "num_experts_per_tok": 2, "moe_intermediate_size": 48, "moe_shared_expert_intermediate_size": 40,
          "n_group": 1, "topk_group": 1)";
  const Reading hybrid = Reading::of_text(sizes + R"(, "hybrid_override_pattern": "MM*E"})");
  EXPECT_THAT(hybrid.problems(), IsEmpty());
  ASSERT_TRUE(hybrid.shape.hybrid.has_value());
  EXPECT_EQ(hybrid.shape.hybrid->mamba.projected(), 128 + 128 + 2 * 2 * 32 + 8);
  EXPECT_EQ(hybrid.shape.hybrid->mamba.chunk, 8);
  EXPECT_EQ(hybrid.shape.experts->shared_ffn, 40);
  EXPECT_THAT(Reading::of_text(sizes + R"(, "hybrid_override_pattern": "MM*"})").problems(),
              ElementsAre("E460: there are 3 letters for 4 layers"));
  const std::string super = R"(, "moe_latent_size": 16, "num_nextn_predict_layers": 1)";
  for (const char* kinds : {R"(, "hybrid_override_pattern": "MM*E", "mtp_hybrid_override_pattern": "*E"})",
                            R"(, "layers_block_type": ["mamba", "mamba", "attention", "moe"],
                                "mtp_layers_block_type": ["attention", "moe"]})"}) {
    const Reading latent = Reading::of_text(sizes + super + kinds);
    EXPECT_THAT(latent.problems(), IsEmpty());
    EXPECT_EQ(latent.shape.experts->latent, 16);
    EXPECT_EQ(latent.shape.predictors, 1);
    EXPECT_EQ(latent.shape.hybrid->order, "MM*E");
    EXPECT_EQ(latent.shape.hybrid->predictor, "*E");
  }
  EXPECT_THAT(Reading::of_text(sizes + super + R"(, "hybrid_override_pattern": "MM*E"})").problems(),
              ElementsAre(HasSubstr("E460: mtp_num_layers of a hybrid model needs")));
}

// The sizes of DeepSeek-V3.2 in four layers.
TEST(HfConfig, ReadsTheIndexerOfSparseAttention) {
  const std::string sizes =
      R"({"model_type": "deepseek_v32", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
          "num_hidden_layers": 4, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
          "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
          "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
          "moe_layer_freq": 1, "n_group": 8, "topk_group": 4, "vocab_size": 129280, "max_position_embeddings": 163840,
          "hidden_act": "silu", "tie_word_embeddings": false, "index_topk": 2048, "index_n_heads": 64,
          "index_head_dim": 128)";
  const Reading sparse = Reading::of_text(sizes + "}");
  EXPECT_THAT(sparse.problems(), IsEmpty());
  ASSERT_TRUE(sparse.shape.indexer.has_value());
  EXPECT_EQ(sparse.shape.indexer->chosen, 2048);
  EXPECT_FALSE(sparse.shape.indexer->loss);
  EXPECT_THAT(Reading::of_text(sizes + R"(, "index_topk_freq": 4})").problems(),
              ElementsAre(HasSubstr("E464: layers that share the choice of an indexer are not modelled")));
}

// The card of GLM-5: 744 B parameters, 40 B for each token, those of the embeddings not among them.
TEST(HfConfig, ReadsGlm5) {
  const Reading glm = Reading::of_text(
      R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "intermediate_size": 12288, "moe_intermediate_size": 2048,
          "num_hidden_layers": 78, "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 2048,
          "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
          "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
          "moe_layer_freq": 1, "n_group": 1, "topk_group": 1, "vocab_size": 154880, "max_position_embeddings": 202752,
          "hidden_act": "silu", "tie_word_embeddings": false, "index_topk": 2048, "index_n_heads": 32,
          "index_head_dim": 128})");
  EXPECT_THAT(glm.problems(), IsEmpty());
  EXPECT_NEAR(static_cast<double>(parameters(glm.shape)), 744e9, 0.5e9);
  EXPECT_NEAR(static_cast<double>(active_parameters(glm.shape) - 2 * 154'880 * 6144), 40e9, 0.5e9);
}

TEST(HfConfig, ReadsGptOssWithAlternatingWindows) {
  const Reading oss = Reading::of_file("gpt-oss-20b.json");
  EXPECT_THAT(oss.problems(), IsEmpty());
  EXPECT_EQ(parameters(oss.shape), 20'914'757'184);  // the published checkpoint
  EXPECT_TRUE(is_windowed(oss.shape, 0));
  EXPECT_FALSE(is_windowed(oss.shape, 1));
  EXPECT_EQ(oss.shape.positions, workload::Positions::kYarn);  // the family's default
}

TEST(HfConfig, ReadsYarn) {
  const auto scaled = [](const std::string& scaling, const std::string& key) {
    return "{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2,"
           " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 1000,"
           " \"tie_word_embeddings\": false, \"max_position_embeddings\": 4096, \"" +
           key + "\": " + scaling + "}";
  };
  const auto positions = [&](const std::string& scaling, const std::string& key = "rope_scaling") {
    return Reading::of_text(scaled(scaling, key)).shape.positions;
  };
  EXPECT_EQ(positions("{\"rope_type\": \"yarn\", \"rope_theta\": 10000}", "rope_parameters"),
            workload::Positions::kYarn);
  EXPECT_EQ(positions("{\"type\": \"yarn\", \"factor\": 4.0}"), workload::Positions::kYarn);
  EXPECT_EQ(positions("{\"rope_type\": \"yarn\", \"factor\": 4.0}"), workload::Positions::kYarn);
  EXPECT_EQ(positions("{\"rope_type\": \"llama3\", \"factor\": 8.0}"), workload::Positions::kRotary);
  EXPECT_EQ(positions("null"), workload::Positions::kRotary);
}

TEST(HfConfig, ReadsBertAsBidirectional) {
  const Reading bert = Reading::of_text(
      "{\"model_type\": \"bert\", \"hidden_size\": 1024, \"intermediate_size\": 4096, \"num_hidden_layers\": 24,"
      " \"num_attention_heads\": 16, \"vocab_size\": 30522, \"max_position_embeddings\": 2048}");
  EXPECT_THAT(bert.problems(), IsEmpty());
  EXPECT_EQ(bert.shape.masking, Masking::kBidirectional);
}

TEST(HfConfig, ReadsTheTextModelOfSeveral) {
  const Reading text = Reading::of_text(
      "{\"model_type\": \"many\", \"text_config\": {\"model_type\": \"mixtral\", \"hidden_size\": 64,"
      " \"intermediate_size\": 128, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
      " \"head_dim\": 16, \"vocab_size\": 100, \"max_position_embeddings\": 128, \"hidden_act\": \"silu\","
      " \"tie_word_embeddings\": false, \"num_local_experts\": 4, \"num_experts_per_tok\": 2}}");
  EXPECT_THAT(text.problems(), ElementsAre("W134: a multimodal model: only its text model is costed"));
  EXPECT_EQ(text.shape.experts->count, 4);
}

TEST(HfConfig, AMissingNumberOfExpertsIsAnError) {
  const Reading broken = Reading::of_text(
      "{\"model_type\": \"mixtral\", \"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2,"
      " \"num_attention_heads\": 4, \"vocab_size\": 100, \"num_experts_per_tok\": 1}");
  ASSERT_EQ(broken.problems().size(), 1U);
  EXPECT_THAT(broken.problems()[0], testing::HasSubstr("num_local_experts"));
}

TEST(HfConfig, MissingSizesAreErrors) {
  const Reading broken = Reading::of_text(
      "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"intermediate_size\": 128,"
      " \"vocab_size\": 100}");
  ASSERT_EQ(broken.problems().size(), 1U);
  EXPECT_THAT(broken.problems()[0], testing::HasSubstr("num_hidden_layers"));
}

}  // namespace
}  // namespace ringwright::configs::model_import_test
