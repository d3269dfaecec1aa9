#include "configs/scenario/imports/huggingface/keys.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

void read_activation(ConfigMap& config, workload::ModelShape& shape) {
  const std::string name =
      config.text({.name = "hidden_act", .doc = "activation of the gated MLP", .fallback = "silu"});
  if (!config.has("hidden_act")) config.assume("hidden_act", "silu", "not in config.json");
  // All gated activations cost the same as SwiGLU: the same GEMMs and bytes.
  shape.activation = workload::Activation::kSwiGlu;
  if (name != "silu" && name != "swish") {
    config.assume("hidden_act", "a gated MLP", fmt::format("'{}' is costed as SwiGLU", name));
  }
}

// As for the same sizes in a scenario (model_config.cc).
std::int64_t largest_hf_size(std::string_view name) {
  if (name == "num_hidden_layers" || name == "n_layer") return 10'000;
  if (name == "num_attention_heads" || name == "n_head" || name == "num_key_value_heads") return 10'000;
  if (name == "hidden_size" || name == "n_embd" || name == "head_dim") return 1'000'000;
  if (name == "vocab_size") return 100'000'000;
  return 10'000'000;
}

}  // namespace

std::int64_t hf_size(ConfigMap& config, std::string_view name, std::string_view doc) {
  return config.integer({.name = name, .doc = doc, .min = 1, .max = largest_hf_size(name)});
}

// A size that some files omit or set to null; the default of the family's code is recorded as assumed.
std::int64_t hf_size_or(ConfigMap& config, std::string_view name, std::string_view doc, std::int64_t fallback) {
  const auto given = config.integer_or({.name = name, .doc = doc, .min = 1, .max = largest_hf_size(name)}, "null");
  if (given) return *given;
  config.assume(name, std::to_string(fallback), "not in config.json");
  return fallback;
}

bool hf_flag_or(ConfigMap& config, std::string_view name, std::string_view doc, bool fallback) {
  if (!config.has(name)) config.assume(name, fallback ? "true" : "false", "not in config.json");
  return config.boolean({.name = name, .doc = doc, .fallback = fallback});
}

void read_hf_decoder(ConfigMap& config, std::int64_t head_size, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = hf_size_or(config, "num_key_value_heads", "key-value heads", shape.heads);
  const std::int64_t even = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  // With latent attention the file's head_dim is the size of the rotated part only.
  shape.head_size =
      shape.latent ? even : hf_size_or(config, "head_dim", "size of one head", head_size > 0 ? head_size : even);
  // A family's own default (Qwen3: 128) counts as a size from the file.
  workload::check_heads(config,
                        {.hidden = head_size > 0 ? "" : "hidden_size",
                         .heads = "num_attention_heads",
                         .kv_heads = "num_key_value_heads",
                         .head_size = "head_dim"},
                        shape);
  shape.ffn = hf_size(config, "intermediate_size", "width of the MLP");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_position_embeddings", "longest sequence of the model", 4096);
  read_activation(config, shape);
  const bool tied = hf_flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", false);
  shape.embeddings = tied ? workload::Embeddings::kTied : workload::Embeddings::kUntied;
}

}  // namespace ringwright::configs
