// Reading the `model:` map: explicit sizes in Megatron's spelling; presets have been merged under it before.
#pragma once

#include "core/config/config_map.h"
#include "workload/model_shape.h"

namespace ringwright::workload {

// Mistakes are recorded in the map; what comes back is then harmless (no size is 0).
[[nodiscard]] ModelShape read_model(ConfigMap& model);
// Reads `model.lora`; a model without it trains all of its weights.
void read_adapters(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
