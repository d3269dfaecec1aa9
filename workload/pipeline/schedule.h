// The port of pipeline schedules: the order of the stages' passes, and the placement of model chunks.
#pragma once

#include <vector>

#include "workload/pipeline/placement.h"

namespace ringwright::workload {

// A backward pass may be cut in two (Qi et al., arXiv 2401.10241): the gradient of the input, which the previous chunk
// waits for, and the gradient of the weights, which is not needed before the end of the training step.
enum class Pass { kForward, kBackward, kInputGradient, kWeightGradient };

// Whether the previous chunk gets its gradient from this pass.
[[nodiscard]] constexpr bool passes_gradient_on(Pass pass) {
  return pass == Pass::kBackward || pass == Pass::kInputGradient;
}
// Whether the weights' gradient is complete after this pass, and the microbatch's memory is released.
[[nodiscard]] constexpr bool ends_microbatch(Pass pass) {
  return pass == Pass::kBackward || pass == Pass::kWeightGradient;
}

// Not one of the two halves of a backward pass.
[[nodiscard]] constexpr bool is_whole(Pass pass) {
  return pass == Pass::kForward || pass == Pass::kBackward;
}

// One pass of one microbatch through one model chunk of a stage.
struct Slot {
  Pass pass = Pass::kForward;
  int microbatch = 0;
  int chunk = 0;
  bool joined = false;  // one block with the next slot: inputs arrive before it, results leave after it
  bool in_turns = false;  // joined to the next slot layer by layer, so that one releases what the other stores
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct ScheduleRequest {
  int stages = 1;
  int chunks = 1;  // per stage
  int microbatches = 1;
  int group = 0;  // interleaving: microbatches that pass a chunk before the next one; 0: as many as stages
};

// By stage: its passes in order.
using PipelineOrder = std::vector<std::vector<Slot>>;

// A pure function.
using ScheduleRule = PipelineOrder (*)(const ScheduleRequest& request);

}  // namespace ringwright::workload
