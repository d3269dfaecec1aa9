// Keys of a Hugging Face config.json that several families share: required sizes, and those that some files omit, which
// are then recorded as assumed.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] std::int64_t hf_size(ConfigMap& config, std::string_view name, std::string_view doc);
// The default of the family's code if the file has no value, or null.
[[nodiscard]] std::int64_t hf_size_or(ConfigMap& config, std::string_view name, std::string_view doc,
                                      std::int64_t fallback);
[[nodiscard]] bool hf_flag_or(ConfigMap& config, std::string_view name, std::string_view doc, bool fallback);
// Layers, widths, heads, vocabulary, embeddings, activation: with the same spelling in all families after GPT-2.
// `head_size`: the default of the family's code without head_dim; 0: hidden / heads.
void read_hf_decoder(ConfigMap& config, std::int64_t head_size, workload::ModelShape& shape);

}  // namespace ringwright::configs
