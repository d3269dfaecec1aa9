// Reading the `model:` map: explicit sizes in Megatron's spelling; presets are already merged below it.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Mistakes are recorded in the map; the result is then harmless (no size is 0).
[[nodiscard]] ModelShape read_model(ConfigMap& model);
// A file's names for the sizes of attention heads; empty: no such key, or no rule for it.
struct HeadKeys {
  std::string_view hidden, heads, kv_heads, head_size;
};
// The rules of Megatron-LM and transformers: key-value heads divide the heads, and heads divide the hidden size unless
// their size is given. Violations are recorded at their key and made harmless.
void check_heads(ConfigMap& map, const HeadKeys& keys, ModelShape& shape);

}  // namespace ringwright::workload
