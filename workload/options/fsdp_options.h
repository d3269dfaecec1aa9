// Reading of `parallel.fsdp`: PyTorch's fully sharded data parallelism, with its own keys.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// When dp is known. Mistakes are recorded in the map.
void read_fsdp(ConfigMap fsdp, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
