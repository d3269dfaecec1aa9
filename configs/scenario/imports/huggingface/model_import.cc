#include "configs/scenario/imports/huggingface/model_import.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/delta_nets.h"
#include "configs/scenario/imports/huggingface/experts.h"
#include "configs/scenario/imports/huggingface/hybrid.h"
#include "configs/scenario/imports/huggingface/keys.h"
#include "configs/scenario/imports/huggingface/kimi_linear.h"
#include "configs/scenario/imports/huggingface/llama_family.h"
#include "configs/scenario/imports/huggingface/parallel_blocks.h"
#include "configs/scenario/imports/huggingface/ungated.h"
#include "workload/model/adapter_config.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kSupported =
    "llama, mistral, phi3, qwen2, qwen3, olmo2, olmo3, internlm2, smollm3, granite, seed_oss, ernie4_5, glm, glm4, "
    "gemma, gemma2, gemma3_text, gpt2, bert, opt, bloom, mpt, starcoder2, nemotron, mixtral, qwen2_moe, qwen3_moe, "
    "deepseek_v2, deepseek_v3, deepseek_v32, glm_moe_dsa, kimi_k2, glm4_moe, gpt_oss, llama4_text, minimax_m2, "
    "granitemoe, granitemoeshared, ernie4_5_moe, dbrx, nemotron_h, granitemoehybrid, qwen3_next, qwen3_5, qwen3_5_moe, "
    "kimi_linear, gptj, gpt_neox, falcon, phi, cohere, cohere2";

// The text models of multimodal ones that equal a family of their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTextModels{{{"qwen2_vl_text", "qwen2"},
                                                                                    {"qwen2_5_vl_text", "qwen2"},
                                                                                    {"qwen3_vl_text", "qwen3"},
                                                                                    {"qwen3_vl_moe_text", "qwen3_moe"},
                                                                                    {"qwen3_5_text", "qwen3_5"},
                                                                                    {"qwen3_5_moe_text", "qwen3_5_moe"},
                                                                                    {"glm4v_text", "glm4"},
                                                                                    {"glm4v_moe_text", "glm4_moe"}}};

std::string family_of(const std::string& type) {
  const auto found = std::ranges::find(kTextModels, type, &std::pair<std::string_view, std::string_view>::first);
  return found == kTextModels.end() ? type : std::string(found->second);
}

// Token types, pooler and the head of the masked-word task are not counted.
void read_bert(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = shape.heads;
  set_hf_even_heads(
      config, {.hidden = "hidden_size", .heads = "num_attention_heads", .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = hf_size(config, "intermediate_size", "width of the MLP");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size(config, "max_position_embeddings", "rows of the position table");
  shape.normalization = workload::Normalization::kLayerNorm;
  shape.activation = workload::Activation::kGelu;
  shape.positions = workload::Positions::kLearned;
  shape.biases = workload::kAllBiases;
  shape.embeddings = workload::Embeddings::kTied;
  shape.masking = workload::Masking::kBidirectional;
  shape.hidden_dropout = hf_has_dropout(config, "hidden_dropout_prob", "dropout after attention and MLP", 0.1);
  shape.attention_dropout =
      hf_has_dropout(config, "attention_probs_dropout_prob", "dropout on attention probabilities", 0.1);
}

void read_gpt2(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layer", "transformer layers");
  shape.hidden = hf_size(config, "n_embd", "width of the residual stream");
  shape.heads = hf_size(config, "n_head", "attention heads");
  shape.kv_heads = shape.heads;
  set_hf_even_heads(config, {.hidden = "n_embd", .heads = "n_head", .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = hf_size_or(config, "n_inner", "width of the MLP", 4 * shape.hidden);
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size(config, "n_positions", "rows of the position table");
  shape.normalization = workload::Normalization::kLayerNorm;
  shape.activation = workload::Activation::kGelu;
  shape.positions = workload::Positions::kLearned;
  shape.biases = workload::kAllBiases;
  read_hf_tied_embeddings(config, true, shape);
  shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.1);
  shape.attention_dropout = hf_has_dropout(config, "attn_pdrop", "dropout on attention probabilities", 0.1);
}

void refuse(ConfigMap& config, std::string_view type) {
  config.error("model_type", "E107", fmt::format("'model_type' is '{}', which is not supported", type),
               fmt::format("supported: {}; describe others with explicit sizes in `model`", kSupported));
}

void read_family(ConfigMap& config, const std::string& type, workload::ModelShape& shape) {
  if (type == "gpt2") {
    read_gpt2(config, shape);
  } else if (type == "bert") {
    read_bert(config, shape);
  } else if (is_hf_llama_family(type)) {
    read_hf_llama_family(config, type, shape);
  } else if (is_hf_ungated_family(type)) {
    read_hf_ungated_family(config, type, shape);
  } else if (type == "nemotron_h") {
    read_hf_nemotron_h(config, shape);
  } else if (type == "granitemoehybrid") {
    read_hf_granite_hybrid(config, shape);
  } else if (is_hf_delta_net_family(type)) {
    read_hf_delta_net_family(config, type, shape);
  } else if (type == "kimi_linear") {
    read_hf_kimi_linear(config, shape);
  } else if (is_hf_parallel_family(type)) {
    read_hf_parallel_family(config, type, shape);
  } else if (is_hf_expert_family(type)) {
    read_hf_expert_family(config, type, shape);
  } else if (!type.empty() && !config.documenting()) {
    refuse(config, type);
  }
  config.warn_of_typos("W134");
  config.ignore_rest("not needed to cost a training step");
}

// Which of two values holds differs between versions of transformers.
void check_outer_embeddings(ConfigMap& config, ConfigMap& text, const workload::ModelShape& shape) {
  if (!config.has("tie_word_embeddings")) return;
  const bool outer = config.boolean({.name = "tie_word_embeddings", .doc = "of the whole model"});
  const bool tied = shape.embeddings == workload::Embeddings::kTied;
  if (outer == tied) return;
  config.warn("tie_word_embeddings", "W134",
              fmt::format("tie_word_embeddings is {} here, but {} in text_config{}, which is used", outer, tied,
                          text.has("tie_word_embeddings") ? "" : " by default"),
              "set tie_word_embeddings in text_config");
}

workload::ModelShape harmless_shape() {
  workload::ModelShape shape;
  shape.layers = shape.hidden = shape.heads = shape.kv_heads = shape.head_size = shape.ffn = shape.vocabulary = 1;
  shape.max_positions = 1;
  return shape;
}

}  // namespace

workload::ModelShape read_hf_model(ConfigMap& config, ConfigMap& model) {
  workload::ModelShape shape = harmless_shape();
  std::string type = config.text({.name = "model_type", .doc = "family of the model"});
  if (config.has("text_config")) {
    config.warn("text_config", "W134", "a multimodal model: only its text model is costed");
    ConfigMap text = config.map("text_config", "the text model of a multimodal model");
    type = text.text({.name = "model_type", .doc = "family of the text model", .fallback = type});
    read_family(text, family_of(type), shape);
    check_outer_embeddings(config, text, shape);
    config.ignore_rest("not needed to cost a training step");
  } else {
    read_family(config, family_of(type), shape);
  }

  read_adapters(model, shape);
  shape.name = model.text({.name = "name", .doc = "name of the model in reports", .fallback = type});
  if (!model.has("seq_length")) {
    model.assume("seq_length", std::to_string(shape.max_positions), "config.json states only the longest sequence");
  }
  shape.sequence = model.integer({.name = "seq_length",
                                  .doc = "tokens in a training sequence",
                                  .fallback = shape.max_positions,
                                  .min = 1,
                                  .max = 10'000'000});
  if (type == "llama4_text" && shape.sequence > shape.window) {
    model.warn("seq_length", "W134",
               fmt::format("attention within chunks of {} tokens is costed as a window of that size, which has up to "
                           "twice as many scores in longer sequences",
                           shape.window));
  }
  if (shape.positions == workload::Positions::kLearned && shape.max_positions < shape.sequence) {
    model.error("seq_length", "E132",
                fmt::format("model.seq_length = {} is longer than the learned position table of {} rows",
                            shape.sequence, shape.max_positions),
                fmt::format("at most {}, as in config.json", shape.max_positions));
  }
  shape.vocabulary_multiple =
      model.integer({.name = "make_vocab_size_divisible_by",
                     .doc = "the vocabulary is padded to a multiple of this times parallel.tp, as Megatron does",
                     .fallback = 128,
                     .min = 1,
                     .max = 1'000'000});
  return shape;
}

}  // namespace ringwright::configs
