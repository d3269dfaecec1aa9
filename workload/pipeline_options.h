// Reading of the keys of `parallel:` that shape the pipeline: schedule, chunks, and how layers are spread.
#pragma once

#include "core/config/config_map.h"
#include "workload/training_options.h"

namespace ringwright::workload {

// Needs options.pp.
void read_pipeline_options(ConfigMap& parallel, ParallelOptions& options);

}  // namespace ringwright::workload
