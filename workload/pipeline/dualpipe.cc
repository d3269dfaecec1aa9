// DualPipe: microbatches enter from both ends of a pipeline whose stages hold two model chunks, one for each direction.
// Bubble (p/2-1)(F&B + B - 3W), p+1 microbatches in memory, weights twice.
//
// DeepSeek-V3 technical report (arXiv 2412.19437), section 3.2.1 and the schedule published with it. F&B is a forward
// and a backward pass that run as one block, B a whole backward pass. Needs an even p and an even m >= 2p: even
// microbatches enter at stage 0, odd ones at stage p-1. (Numbered in turns, so that cycles of the order repeat.)
#include <algorithm>

#include "workload/builtin.h"
#include "workload/pipeline/dual.h"

namespace ringwright::workload {

PipelineOrder dualpipe_order(const ScheduleRequest& request) {
  const int half = request.microbatches / 2;
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    const int mirror = request.stages - 1 - stage;
    std::vector<Slot> slots =
        dual_order({.position = std::min(stage, mirror), .positions = request.stages / 2, .microbatches = half});
    for (Slot& slot : slots) {
      if (stage > mirror) slot.chunk = 1 - slot.chunk;
      slot.microbatch = 2 * slot.microbatch + slot.chunk;
    }
    order.push_back(std::move(slots));
  }
  return order;
}

}  // namespace ringwright::workload
