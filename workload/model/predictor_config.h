// Reading multi-token prediction: how many layers, and whether they are one.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

void read_predictors(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
