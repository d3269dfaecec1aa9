// The slices of a timeline as blocks that a chart can hold: passes of microbatches, and runs of communication.
//
// A pass of a microbatch is many kernels with communication between them; its block lasts from its first kernel to the
// end of its last one. Communication of one dimension is one block as long as its gaps are too short to see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traces/timeline/timeline.h"

namespace ringwright::planning {

struct GanttBlock {
  std::string row;     // "stage 3"
  std::string kind;    // "forward", "optimizer and others", "TP communication"
  std::string task;    // "F3.0 forward"
  double start = 0.0;  // seconds from the start of the step, as the others
  double end = 0.0;
  double busy = 0.0;  // of it computing, or in flight
  std::size_t tasks = 0;
  double bytes = 0.0;
};

struct GanttBlocks {
  std::vector<GanttBlock> blocks;  // by row, then communication after computing, then by start
  std::string note;                // what is left out
};

inline constexpr std::size_t kMostGanttBlocks = 20'000;

// Of the last step, and of the first rank of each role.
[[nodiscard]] GanttBlocks gantt_blocks(const traces::Timeline& timeline, std::size_t most = kMostGanttBlocks);

}  // namespace ringwright::planning
