// The check of an order of passes: every pass once, in order, messages in order, no deadlock.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct ScheduleVerdict {
  std::string problem;            // empty: valid
  std::size_t stage = 0;          // stage of the problem
  std::size_t slot = 0;           // its position in the stage's order; the order's size when a pass is missing
  std::vector<int> held_at_peak;  // by stage: most (microbatch, chunk) pairs between their first and last pass
};

[[nodiscard]] ScheduleVerdict check_order(const PipelineOrder& order, const PipelineShape& shape, int microbatches);

// Most (microbatch, chunk) pairs of a stage between their first and their last pass.
[[nodiscard]] int most_held(const std::vector<Slot>& slots);
// The passes in the order in which they allocate and release memory: of two in turns, the backward pass first.
[[nodiscard]] std::vector<Slot> release_first(std::vector<Slot> slots);

// "F3", "B3", "W3"; with the chunk where a stage has several: "F3.1".
[[nodiscard]] std::string name_of(const Slot& slot, int chunks);

}  // namespace ringwright::workload
