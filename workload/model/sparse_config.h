// Reading DeepSeek sparse attention: the indexer that chooses the tokens which a token attends to.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// After the other sizes of the model; mistakes are recorded in the map.
void read_sparse(ConfigMap& model, ModelShape& shape);

// What of the rest of the model sparse attention does not support; empty if nothing.
[[nodiscard]] std::string_view not_sparse(const ModelShape& shape);

}  // namespace ringwright::workload
