// The keys of `training` that set the types of GEMMs in fp8 and fp4, and of their weights.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

void read_narrow_types(ConfigMap& training, TrainingOptions& options);

}  // namespace ringwright::workload
