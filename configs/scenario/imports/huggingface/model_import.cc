#include "configs/scenario/imports/huggingface/model_import.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/experts.h"
#include "configs/scenario/imports/huggingface/hybrid.h"
#include "configs/scenario/imports/huggingface/keys.h"
#include "configs/scenario/imports/huggingface/parallel_blocks.h"
#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kSupported =
    "llama, mistral, phi3, qwen2, qwen3, gpt2, bert, mixtral, qwen2_moe, qwen3_moe, deepseek_v2, deepseek_v3, "
    "kimi_k2, glm4_moe, gpt_oss, nemotron_h, gptj, gpt_neox, falcon, phi, cohere";

constexpr std::array<std::string_view, 5> kLlamaFamily{"llama", "mistral", "phi3", "qwen2", "qwen3"};

// llama, mistral, phi3, qwen2, qwen3: the configuration classes of transformers share these keys. Phi-3 stores queries,
// keys and values, and gate and up, as one matrix each.
void read_llama_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  const bool qwen = type == "qwen2" || type == "qwen3";
  read_hf_decoder(config, {.head_size = type == "qwen3" ? 128 : 0, .kv_heads = type == "mistral" ? 8 : 0}, shape);
  if (type == "llama" || type == "qwen3") shape.biases = hf_attention_biases(config, false);
  if (type == "llama") {
    shape.biases.mlp = config.boolean({.name = "mlp_bias", .doc = "biases in the MLP", .fallback = false});
  }
  // Its configuration does not list them.
  if (type == "qwen2") shape.biases = workload::kQkvBiases;
  shape.query_key_norm = type == "qwen3";
  if (type == "phi3") {
    const Key<double> dropout{
        .name = "resid_pdrop", .doc = "dropout after attention and MLP", .fallback = 0.0, .min = 0.0, .max = 1.0};
    shape.hidden_dropout = config.number(dropout) > 0.0;
  }
  if (type == "mistral" || type == "phi3") read_hf_window(config, type == "mistral" ? 4096 : 0, shape);
  if (qwen) read_hf_late_window(config, shape);
}

// Token types, pooler and the head of the masked-word task are not counted.
void read_bert(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = shape.heads;
  shape.head_size = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  workload::check_heads(
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
  const auto dropout = [&config](std::string_view name, std::string_view doc) {
    return config.number({.name = name, .doc = doc, .fallback = 0.1, .min = 0.0, .max = 1.0}) > 0.0;
  };
  shape.hidden_dropout = dropout("hidden_dropout_prob", "dropout after attention and MLP");
  shape.attention_dropout = dropout("attention_probs_dropout_prob", "dropout on attention probabilities");
}

void read_gpt2(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layer", "transformer layers");
  shape.hidden = hf_size(config, "n_embd", "width of the residual stream");
  shape.heads = hf_size(config, "n_head", "attention heads");
  shape.kv_heads = shape.heads;
  shape.head_size = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  workload::check_heads(config, {.hidden = "n_embd", .heads = "n_head", .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = hf_size_or(config, "n_inner", "width of the MLP", 4 * shape.hidden);
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size(config, "n_positions", "rows of the position table");
  shape.normalization = workload::Normalization::kLayerNorm;
  shape.activation = workload::Activation::kGelu;
  shape.positions = workload::Positions::kLearned;
  shape.biases = workload::kAllBiases;
  shape.embeddings = hf_flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", true)
                         ? workload::Embeddings::kTied
                         : workload::Embeddings::kUntied;
  const Key<double> residual{
      .name = "resid_pdrop", .doc = "dropout after attention and MLP", .fallback = 0.1, .min = 0.0, .max = 1.0};
  const Key<double> probabilities{
      .name = "attn_pdrop", .doc = "dropout on attention probabilities", .fallback = 0.1, .min = 0.0, .max = 1.0};
  shape.hidden_dropout = config.number(residual) > 0.0;
  shape.attention_dropout = config.number(probabilities) > 0.0;
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
  } else if (std::ranges::find(kLlamaFamily, type) != kLlamaFamily.end()) {
    read_llama_family(config, type, shape);
  } else if (type == "nemotron_h") {
    read_hf_nemotron_h(config, shape);
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
    read_family(text, type, shape);
    check_outer_embeddings(config, text, shape);
    config.ignore_rest("not needed to cost a training step");
  } else {
    read_family(config, type, shape);
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
