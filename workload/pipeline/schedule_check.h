// Whether a pipeline schedule is legal: every pass exactly once, no stage waits for ever, and how much it holds.
#pragma once

#include <string>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct ScheduleSize {
  int stages = 1;
  int chunks = 1;
  int microbatches = 1;
};

struct ScheduleVerdict {
  std::string problem;            // empty: legal
  std::vector<int> held_at_peak;  // by stage: most (microbatch, chunk) pairs between their two passes
};

// Plays the rule for all stages without a clock: a stage goes on as soon as what its next pass needs has been done.
[[nodiscard]] ScheduleVerdict check_schedule(ScheduleRule rule, const ScheduleSize& size);

}  // namespace ringwright::workload
