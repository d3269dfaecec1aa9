// 1F1B: stage i first runs p-1-i forward passes, then one forward and one backward alternately. Bubble (p-1)(F+B) as in
// GPipe, but only min(m, p-i) microbatches in memory.
//
// Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters" (SC 2021, arXiv 2104.04473), the
// schedule with flush of PipeDream and DAPPLE (Fan et al., arXiv 2007.01045).
#include <algorithm>

#include "workload/builtin.h"

namespace ringwright::workload {

PipelineOrder one_f_one_b_order(const ScheduleRequest& request) {
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    const int warmup = std::min(request.stages - 1 - stage, request.microbatches);
    std::vector<Slot>& slots = order.emplace_back();
    slots.reserve(2 * static_cast<std::size_t>(request.microbatches));
    for (int i = 0; i < warmup; ++i) slots.push_back({Pass::kForward, i, 0});
    for (int i = warmup; i < request.microbatches; ++i) {
      slots.push_back({Pass::kForward, i, 0});
      slots.push_back({Pass::kBackward, i - warmup, 0});
    }
    for (int i = request.microbatches - warmup; i < request.microbatches; ++i) {
      slots.push_back({Pass::kBackward, i, 0});
    }
  }
  return order;
}

}  // namespace ringwright::workload
