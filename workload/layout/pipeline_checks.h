// Checks of a pipeline: chunks that the schedule supports, divisible layers, enough microbatches.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Also fills options.layers_per_part.
void check_pipeline(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);
// Requires a divisible batch.
void check_microbatches(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
