// Reading the `model:` map: explicit sizes in Megatron's spelling; presets have been merged under it before.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Mistakes are recorded in the map; what comes back is then harmless (no size is 0).
[[nodiscard]] ModelShape read_model(ConfigMap& model);
// What a file calls the sizes of attention heads; empty: the file has no such key, or it follows no rule.
struct HeadKeys {
  std::string_view hidden, heads, kv_heads, head_size;
};
// The rules of Megatron-LM and transformers: key-value heads divide the heads, and heads divide the hidden size unless
// their size is given. What breaks a rule is recorded at its key and made harmless.
void check_heads(ConfigMap& map, const HeadKeys& keys, ModelShape& shape);
// Reads `model.lora`; a model without it trains all of its weights.
void read_adapters(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
