// Reading the layers of a hybrid model: their order, and the sizes of its Mamba-2 layers.
#pragma once

#include <string>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Why these letters are not the layers of the model; empty if they are.
[[nodiscard]] std::string problem_of_order(const std::string& order, const ModelShape& shape);

// The same for the letters of a layer of multi-token prediction.
[[nodiscard]] std::string problem_of_predictor(const std::string& letters, const ModelShape& shape);

// After the other sizes of the model; mistakes are recorded in the map.
void read_hybrid(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
