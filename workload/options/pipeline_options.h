// Reading of the keys of `parallel:` that shape the pipeline: schedule, chunks, and the split of layers.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Needs options.pp. `listed`: the schedule that parallel.schedule_file holds, if any.
void read_pipeline_options(ConfigMap& parallel, const ListedSchedule* listed, ParallelOptions& options);

}  // namespace ringwright::workload
