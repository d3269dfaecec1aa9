// A pipeline schedule that somebody wrote down: the passes of every stage in a YAML file.
//
//     placement: looped            # or vee, bidirectional
//     chunks: 1
//     stages:
//       0: F0 F1 B0 W0 B1 W1       # a B whose W follows somewhere is the gradient of the input, else the whole
//       1: F0 B0 W0 F1 B1 W1       # backward pass; with several chunks: F0.1
#pragma once

#include "core/config/config_map.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct ListedSchedule {
  Placement placement = Placement::kLooped;
  int chunks = 1;
  PipelineOrder order;
};

// `file` is the root of the schedule's own document; mistakes are recorded there.
[[nodiscard]] ListedSchedule read_listed_schedule(ConfigMap& file);
// Whether it fits the pipeline and is legal; told at the stage's line.
void check_listed_schedule(ConfigMap& file, const ListedSchedule& schedule, int stages, int microbatches);

}  // namespace ringwright::workload
