// Reading which layers have a Gated DeltaNet instead of attention, and its sizes.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload {

// After the order of a hybrid model's layers; mistakes are recorded in the map.
void read_delta_net(ConfigMap& model, ModelShape& shape);

}  // namespace ringwright::workload
