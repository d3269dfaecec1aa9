// What layers of Mamba-2, Gated DeltaNet and sparse attention require of a layout.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

void check_layer_kinds(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
