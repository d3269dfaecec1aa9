// Reading the low-rank adapters of a model.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Reads `model.lora`; a model without it trains all of its weights.
void read_adapters(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
