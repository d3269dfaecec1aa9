#include "configs/scenario/imports/huggingface/keys.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

void read_activation(ConfigMap& config, workload::ModelShape& shape) {
  // Gemma's spelling.
  const std::string_view key = config.has("hidden_activation") ? "hidden_activation" : "hidden_act";
  const std::string name = config.text({.name = key, .doc = "activation of the MLP", .fallback = "silu"});
  if (!config.has(key)) config.assume(key, "silu", "not in config.json");
  // All gated activations cost the same as SwiGLU: the same GEMMs and bytes.
  shape.activation = workload::Activation::kSwiGlu;
  if (name != "silu" && name != "swish") {
    config.assume(key, "a gated MLP", fmt::format("'{}' is costed as SwiGLU", name));
  }
}

// As for the same sizes in a scenario (model_config.cc).
std::int64_t largest_hf_size(std::string_view name) {
  if (name == "num_hidden_layers" || name == "n_layer") return 10'000;
  if (name == "num_attention_heads" || name == "n_head" || name == "num_key_value_heads") return 10'000;
  if (name == "hidden_size" || name == "n_embd" || name == "head_dim") return 1'000'000;
  if (name == "vocab_size" || name == "max_position_embeddings") return 100'000'000;  // Llama 4 Scout: 10,485,760
  return 10'000'000;
}

std::optional<std::int64_t> window_of(ConfigMap& config) {
  return config.integer_or(
      {.name = "sliding_window", .doc = "tokens that a token attends to, itself included", .min = 0}, "null");
}

// With latent attention YaRN costs nothing: its fused rotation takes scaled cosines and sines.
void read_positions(ConfigMap& config, const HfDefaults& defaults, workload::ModelShape& shape) {
  if (shape.latent || shape.positions != workload::Positions::kRotary) return;
  if (defaults.yarn) shape.positions = workload::Positions::kYarn;
  // Transformers 5 calls it rope_parameters.
  const char* const scalings = config.has_map("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!config.has_map(scalings) && !config.documenting()) return;
  ConfigMap scaling = config.map(scalings, "how rotary embeddings are scaled for longer sequences");
  const char* const key = scaling.has("type") ? "type" : "rope_type";
  const std::string kind = scaling.text({.name = key, .doc = "kind of scaling", .fallback = "default"});
  shape.positions = kind == "yarn" ? workload::Positions::kYarn : workload::Positions::kRotary;
  scaling.ignore_rest("not needed to cost a training step");
}

}  // namespace

std::optional<std::int64_t> hf_full_period(const std::vector<bool>& others) {
  const auto first = std::ranges::find(others, false);
  if (first == others.end()) return 0;
  const std::int64_t period = first - others.begin() + 1;
  for (std::size_t layer = 0; layer < others.size(); ++layer) {
    if (others[layer] != ((static_cast<std::int64_t>(layer) + 1) % period != 0)) return std::nullopt;
  }
  return period;
}

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

void read_hf_decoder(ConfigMap& config, const HfDefaults& defaults, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  // Null means as many as heads in all families.
  const bool own = defaults.kv_heads > 0 && shape.heads % defaults.kv_heads == 0 && !config.has("num_key_value_heads");
  shape.kv_heads = hf_size_or(config, "num_key_value_heads", "key-value heads", own ? defaults.kv_heads : shape.heads);
  const std::int64_t even = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  // With latent attention the file's head_dim is the size of the rotated part only.
  const bool fixed = defaults.head_size > 0;
  shape.head_size =
      shape.latent ? even : hf_size_or(config, "head_dim", "size of one head", fixed ? defaults.head_size : even);
  // A family's own default (Qwen3: 128) counts as a size from the file.
  workload::check_heads(config,
                        {.hidden = fixed ? "" : "hidden_size",
                         .heads = "num_attention_heads",
                         .kv_heads = "num_key_value_heads",
                         .head_size = "head_dim"},
                        shape);
  if (defaults.has_mlp) shape.ffn = hf_size(config, "intermediate_size", "width of the MLP");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_position_embeddings", "longest sequence of the model", 4096);
  read_positions(config, defaults, shape);
  read_activation(config, shape);
  read_hf_tied_embeddings(config, defaults.embeddings == workload::Embeddings::kTied, shape);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
}

bool hf_has_dropout(ConfigMap& config, std::string_view name, std::string_view doc, double fallback) {
  return config.number({.name = name, .doc = doc, .fallback = fallback, .min = 0.0, .max = 1.0}) > 0.0;
}

void read_hf_tied_embeddings(ConfigMap& config, bool fallback, workload::ModelShape& shape) {
  const bool tied =
      hf_flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", fallback);
  shape.embeddings = tied ? workload::Embeddings::kTied : workload::Embeddings::kUntied;
}

void set_hf_even_heads(ConfigMap& config, const workload::HeadKeys& names, workload::ModelShape& shape) {
  shape.head_size = std::max<std::int64_t>(1, shape.hidden / shape.heads);
  workload::check_heads(config, names, shape);
}

void read_hf_window(ConfigMap& config, std::int64_t fallback, workload::ModelShape& shape) {
  auto window = window_of(config);
  if (fallback > 0 && !config.has("sliding_window")) {
    config.assume("sliding_window", std::to_string(fallback), "not in config.json");
    window = fallback;
  }
  if (window && *window > 0 && *window < shape.max_positions) shape.window = *window;
}

void read_hf_late_window(ConfigMap& config, workload::ModelShape& shape) {
  const auto window = window_of(config);
  const bool used =
      config.boolean({.name = "use_sliding_window", .doc = "whether sliding_window is active", .fallback = false});
  const std::int64_t full =
      config.integer({.name = "max_window_layers", .doc = "first layers without the window", .fallback = 28, .min = 0});
  // By layer; else the first ones are full.
  const std::vector<std::string> types =
      config.texts({.name = "layer_types", .doc = "sliding_attention or full_attention, by layer"});
  if (!window || !used || *window == 0 || *window >= shape.max_positions) return;
  const auto windowed = [&](std::int64_t layer) {
    const auto place = static_cast<std::size_t>(layer);
    return place < types.size() ? types[place] == "sliding_attention" : types.empty() && layer >= full;
  };
  std::vector<bool> layers;
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) layers.push_back(windowed(layer));
  const std::int64_t count = std::ranges::count(layers, true);
  if (count == 0) return;
  if (const auto period = hf_full_period(layers)) {
    shape.window = *window;
    shape.full_every = *period;
    return;
  }
  config.warn("sliding_window", "W134",
              fmt::format("a window ({} tokens) in {} of {} layers is not modelled: full causal attention is used",
                          *window, count, shape.layers));
}

void set_hf_windows(ConfigMap& config, const HfWindows& windows, workload::ModelShape& shape) {
  const auto period = windows.windowed.empty() ? windows.period : hf_full_period(windows.windowed);
  if (!period) {
    config.error(windows.key, "E133", "the layers that attend to all tokens are not every n-th",
                 "describe the model with explicit sizes (model.window_attn_skip_freq)");
    return;
  }
  if (*period == 1) shape.window = 0;  // all are full
  shape.full_every = *period == 1 ? 0 : *period;
}

void read_hf_window_pattern(ConfigMap& config, std::int64_t window, std::int64_t period, workload::ModelShape& shape) {
  constexpr std::string_view kTypes = "layer_types";
  shape.window = hf_size_or(config, "sliding_window", "tokens that a token attends to in a windowed layer", window);
  const std::vector<std::string> types =
      config.texts({.name = kTypes, .doc = "sliding_attention or full_attention, by layer"});
  std::vector<bool> windowed;
  for (const std::string& type : types) windowed.push_back(type != "full_attention");
  const std::string_view key =
      config.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
  const std::int64_t every = config.integer({.name = key,
                                             .doc = "every n-th layer attends to all tokens",
                                             .fallback = period,
                                             .min = 1,
                                             .max = 10'000});
  if (types.empty() && !config.has(key)) {
    config.assume(kTypes, fmt::format("every {}. attends to all tokens", period), "not in config.json");
  }
  set_hf_windows(config, {.key = kTypes, .windowed = std::move(windowed), .period = every}, shape);
}

workload::Biases hf_attention_biases(ConfigMap& config, bool fallback) {
  const bool biases = config.boolean(
      {.name = "attention_bias", .doc = "biases in the attention's linear layers", .fallback = fallback});
  return biases ? workload::kAttentionBiases : workload::kNoBiases;
}

}  // namespace ringwright::configs
