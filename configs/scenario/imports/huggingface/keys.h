// Keys of a Hugging Face config.json that several families share: required sizes, and those that some files omit, which
// are then recorded as assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/config/config_map.h"
#include "workload/model/model_config.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] std::int64_t hf_size(ConfigMap& config, std::string_view name, std::string_view doc);
// The default of the family's code if the file has no value, or null.
[[nodiscard]] std::int64_t hf_size_or(ConfigMap& config, std::string_view name, std::string_view doc,
                                      std::int64_t fallback);
[[nodiscard]] bool hf_flag_or(ConfigMap& config, std::string_view name, std::string_view doc, bool fallback);
// Where the file leaves a value out: the default of the family's code.
struct HfDefaults {
  std::int64_t head_size = 0;  // 0: hidden / heads
  std::int64_t kv_heads = 0;   // 0: as many as heads
  workload::Embeddings embeddings = workload::Embeddings::kUntied;
  bool yarn = false;    // rotary embeddings are scaled by YaRN where rope_scaling is left out
  bool has_mlp = true;  // false: every layer has experts, and the file no width of another MLP
};
// Layers, widths, heads, vocabulary, embeddings, activation: with the same spelling in all families after GPT-2.
void read_hf_decoder(ConfigMap& config, const HfDefaults& defaults, workload::ModelShape& shape);
// A window in all layers; `fallback`: where the file has none, 0 for full attention.
void read_hf_window(ConfigMap& config, std::int64_t fallback, workload::ModelShape& shape);
// A window in the layers that layer_types lists, else in those from max_window_layers on (Qwen).
void read_hf_late_window(ConfigMap& config, workload::ModelShape& shape);
// A window in all layers but every n-th, as layer_types lists them, or sliding_window_pattern states n; else `period`.
void read_hf_window_pattern(ConfigMap& config, std::int64_t window, std::int64_t period, workload::ModelShape& shape);
// The n of which every n-th layer is full and all others are of the list; 0: all are of it. Nothing: there is no such
// n.
[[nodiscard]] std::optional<std::int64_t> hf_full_period(const std::vector<bool>& others);
// Which layers have the shape's window: by layer, or where the list is empty all but every `period`-th.
struct HfWindows {
  std::string_view key;  // that lists them
  std::vector<bool> windowed;
  std::int64_t period = 0;
};
// An error where the full layers of the list are not every n-th.
void set_hf_windows(ConfigMap& config, const HfWindows& windows, workload::ModelShape& shape);
[[nodiscard]] bool hf_has_dropout(ConfigMap& config, std::string_view name, std::string_view doc, double fallback);
void read_hf_tied_embeddings(ConfigMap& config, bool fallback, workload::ModelShape& shape);
// Heads of hidden / heads, checked; `names`: of the keys, for messages.
void set_hf_even_heads(ConfigMap& config, const workload::HeadKeys& names, workload::ModelShape& shape);
// Whether the four linear layers of the attention have biases.
[[nodiscard]] workload::Biases hf_attention_biases(ConfigMap& config, bool fallback);

}  // namespace ringwright::configs
