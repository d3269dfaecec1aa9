// Whether a pipeline can run at all: chunks that the schedule knows, layers that spread, enough microbatches.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Also fills options.layers_per_part.
void check_pipeline(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);
// Once the batch is known to divide.
void check_microbatches(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
