// One stage of DualPipe's order, which DualPipe and DualPipeV share: two chunks whose passes are paired in blocks.
#pragma once

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct DualStage {
  int position = 0;      // counted from the end where the first chunk's microbatches enter
  int positions = 1;     // number of stages between that end and the middle (DualPipe) or the turn (DualPipeV)
  int microbatches = 1;  // of each chunk; at least 2 x positions
};

// Chunks are 0 and 1, microbatches of both count from 0.
[[nodiscard]] std::vector<Slot> dual_order(const DualStage& stage);

}  // namespace ringwright::workload
