// The share of a training step that each pipeline stage waits for the others.
//
// Papers use two definitions of the bubble's share: its time over that of the whole training step (Qi et al., arXiv
// 2401.10241), and its time over that of the rest, the ideal (Narayanan et al., arXiv 2104.04473). The bubble is all
// time that is neither computing nor exposed communication of another dimension; messages between stages belong to it.
#pragma once

#include <string>
#include <vector>

#include "core/report/time_breakdown.h"

namespace ringwright {

struct StageBubble {
  std::string stage;
  Duration bubble;
  Duration total;
  int held_at_peak = 0;     // most microbatches of a chunk between their first and their last pass; 0: not known
  int weight_versions = 1;  // with the newest

  [[nodiscard]] double of_step() const;
  [[nodiscard]] double of_ideal() const;
};

// Bubbles of the stages of time_breakdown.h, with what each holds, in the same order.
[[nodiscard]] std::vector<StageBubble> stage_bubbles(const std::vector<TimeBreakdown>& stages,
                                                     const std::vector<int>& held_at_peak,
                                                     const std::vector<int>& weight_versions = {});

// A line for each stage.
[[nodiscard]] std::vector<std::string> bubble_lines(const std::vector<StageBubble>& bubbles);

}  // namespace ringwright
