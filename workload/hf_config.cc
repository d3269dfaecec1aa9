#include "workload/hf_config.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::string_view kSupported = "llama, mistral, qwen2, qwen3, gpt2";
constexpr std::array<std::string_view, 8> kMixtureFamilies{"mixtral",     "qwen2_moe",   "qwen3_moe", "deepseek_v2",
                                                           "deepseek_v3", "llama4_text", "dbrx",      "gpt_oss"};

std::int64_t size(ConfigMap& config, std::string_view name, std::string_view doc) {
  return config.integer({.name = name, .doc = doc, .min = 1, .max = 100'000'000});
}

// A size that some files leave out or set to null; what the family's code then takes is recorded as assumed.
std::int64_t size_or(ConfigMap& config, std::string_view name, std::string_view doc, std::int64_t fallback) {
  const auto given = config.integer_or({.name = name, .doc = doc, .min = 1, .max = 100'000'000}, "null");
  if (given) return *given;
  config.assume(name, std::to_string(fallback), "not in config.json");
  return fallback;
}

bool flag_or(ConfigMap& config, std::string_view name, std::string_view doc, bool fallback) {
  if (!config.has(name)) config.assume(name, fallback ? "true" : "false", "not in config.json");
  return config.boolean({.name = name, .doc = doc, .fallback = fallback});
}

void read_activation(ConfigMap& config, ModelShape& shape) {
  const std::string name =
      config.text({.name = "hidden_act", .doc = "activation of the gated MLP", .fallback = "silu"});
  if (!config.has("hidden_act")) config.assume("hidden_act", "silu", "not in config.json");
  // Any gated activation costs what SwiGLU costs: the products and the bytes are the same.
  shape.activation = Activation::kSwiGlu;
  if (name != "silu" && name != "swish") {
    config.assume("hidden_act", "a gated MLP", fmt::format("'{}' is costed as SwiGLU is", name));
  }
}

// llama, mistral, qwen2, qwen3: the configuration classes of transformers share these keys.
void read_llama_family(ConfigMap& config, std::string_view type, ModelShape& shape) {
  shape.layers = size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = size(config, "hidden_size", "width of the residual stream");
  shape.heads = size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = size_or(config, "num_key_value_heads", "key-value heads", shape.heads);
  shape.head_size = size_or(config, "head_dim", "size of one head",
                            type == "qwen3" ? 128 : std::max<std::int64_t>(1, shape.hidden / shape.heads));
  shape.ffn = size(config, "intermediate_size", "width of the MLP");
  shape.vocabulary = size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = size_or(config, "max_position_embeddings", "longest sequence of the model", 4096);
  read_activation(config, shape);
  const bool tied = flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", false);
  shape.embeddings = tied ? Embeddings::kTied : Embeddings::kUntied;
  const bool all_biases =
      config.boolean({.name = "attention_bias", .doc = "biases in the attention's linear layers", .fallback = false});
  // Qwen2's code has biases on queries, keys and values that its configuration does not mention.
  shape.biases = type == "qwen2" ? Biases::kQkvOnly : all_biases ? Biases::kAllLinear : Biases::kNone;
  shape.query_key_norm = type == "qwen3";
  const auto window =
      config.integer_or({.name = "sliding_window", .doc = "attention window; not modelled", .min = 0}, "null");
  const bool used = config.boolean(
      {.name = "use_sliding_window", .doc = "whether sliding_window is in force", .fallback = type == "mistral"});
  if (window && used && *window > 0 && *window < shape.max_positions) {
    config.warn(
        "sliding_window", "W134",
        fmt::format("sliding-window attention ({} tokens) is not modelled: full causal attention is used", *window));
  }
}

void read_gpt2(ConfigMap& config, ModelShape& shape) {
  shape.layers = size(config, "n_layer", "transformer layers");
  shape.hidden = size(config, "n_embd", "width of the residual stream");
  shape.heads = size(config, "n_head", "attention heads");
  shape.kv_heads = shape.heads;
  shape.head_size = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  shape.ffn = size_or(config, "n_inner", "width of the MLP", 4 * shape.hidden);
  shape.vocabulary = size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = size(config, "n_positions", "rows of the position table");
  shape.normalization = Normalization::kLayerNorm;
  shape.activation = Activation::kGelu;
  shape.positions = Positions::kLearned;
  shape.biases = Biases::kAllLinear;
  shape.embeddings = flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", true)
                         ? Embeddings::kTied
                         : Embeddings::kUntied;
  const Key<double> residual{
      .name = "resid_pdrop", .doc = "dropout after attention and MLP", .fallback = 0.1, .min = 0.0, .max = 1.0};
  const Key<double> probabilities{
      .name = "attn_pdrop", .doc = "dropout on attention probabilities", .fallback = 0.1, .min = 0.0, .max = 1.0};
  shape.hidden_dropout = config.number(residual) > 0.0;
  shape.attention_dropout = config.number(probabilities) > 0.0;
}

void refuse(ConfigMap& config, std::string_view type) {
  if (std::ranges::find(kMixtureFamilies, type) != kMixtureFamilies.end()) {
    config.error("model_type", "E133", fmt::format("mixture-of-experts models ('{}') are not supported yet", type),
                 fmt::format("supported dense families: {}", kSupported));
    return;
  }
  config.error("model_type", "E133", fmt::format("model_type '{}' is not known", type),
               fmt::format("supported: {}", kSupported));
}

ModelShape harmless_shape() {
  ModelShape shape;
  shape.layers = shape.hidden = shape.heads = shape.kv_heads = shape.head_size = shape.ffn = shape.vocabulary = 1;
  shape.max_positions = 1;
  return shape;
}

}  // namespace

ModelShape read_hf_model(ConfigMap& config, ConfigMap& model) {
  ModelShape shape = harmless_shape();
  const std::string type = config.text({.name = "model_type", .doc = "family of the model"});
  if (type == "gpt2") {
    read_gpt2(config, shape);
  } else if (type == "llama" || type == "mistral" || type == "qwen2" || type == "qwen3") {
    read_llama_family(config, type, shape);
  } else if (!type.empty() && !config.documenting()) {
    refuse(config, type);
  }
  config.ignore_rest("not needed to cost a training step");

  shape.name = model.text({.name = "name", .doc = "what reports call the model", .fallback = type});
  if (!model.has("seq_length")) {
    model.assume("seq_length", std::to_string(shape.max_positions), "config.json gives the longest sequence only");
  }
  shape.sequence = model.integer(
      {.name = "seq_length", .doc = "tokens in a training sequence", .fallback = shape.max_positions, .min = 1});
  shape.vocabulary_multiple =
      model.integer({.name = "make_vocab_size_divisible_by",
                     .doc = "the vocabulary is padded to a multiple of this times parallel.tp, as Megatron does",
                     .fallback = 128,
                     .min = 1});
  return shape;
}

}  // namespace ringwright::workload
