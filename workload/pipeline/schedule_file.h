// A pipeline schedule from a file: the passes of every stage in YAML.
//
//     placement: looped            # or vee, bidirectional
//     chunks: 1
//     stages:
//       0: F0 F1 B0 W0 B1 W1       # a B with a later W is the gradient of the input, else the whole
//       1: F0 B0 W0 F1 B1 W1       # backward pass; with several chunks: F0.1
#pragma once

#include "core/config/config_map.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct ListedSchedule {
  Placement placement = Placement::kLooped;
  int chunks = 1;
  PipelineOrder order;

  friend bool operator==(const ListedSchedule&, const ListedSchedule&) = default;
};

// `file` is the root of the schedule's own document; mistakes are recorded there.
[[nodiscard]] ListedSchedule read_listed_schedule(ConfigMap& file);
// Checks it against the pipeline; mistakes are reported at the stage's line.
void check_listed_schedule(ConfigMap& file, const ListedSchedule& schedule, int stages, int microbatches);

}  // namespace ringwright::workload
