// Reading the `model:` map: explicit sizes in Megatron's spelling; presets have been merged under it before.
#pragma once

#include "core/config/config_map.h"
#include "workload/model_shape.h"

namespace ringwright::workload {

// Mistakes are recorded in the map; what comes back is then harmless (no size is 0).
[[nodiscard]] ModelShape read_model(ConfigMap& model);

}  // namespace ringwright::workload
