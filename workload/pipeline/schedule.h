// The port of pipeline schedules: in which order a stage does its forward and backward passes.
#pragma once

#include <vector>

namespace ringwright::workload {

enum class Pass { kForward, kBackward };

// One pass of one microbatch through one chunk (model part) of a stage.
struct Slot {
  Pass pass = Pass::kForward;
  int microbatch = 0;
  int chunk = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct ScheduleRequest {
  int stage = 0;
  int stages = 1;
  int chunks = 1;
  int microbatches = 1;
};

// A pure function; chunk c of stage i is part c * stages + i of the model.
using ScheduleRule = std::vector<Slot> (*)(const ScheduleRequest& request);

}  // namespace ringwright::workload
