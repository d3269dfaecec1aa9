#include "workload/layout/pipeline_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

// Passes of different microbatches in turns. A schedule with blocks of its own has such pairs (DualPipe). In others
// every backward pass comes one forward pass later and is joined to it (Megatron-LM adds a warmup microbatch for this).
std::vector<Slot> combined(std::vector<Slot> slots) {
  if (std::ranges::any_of(slots, &Slot::joined)) {
    for (Slot& slot : slots) slot.in_turns = slot.joined;
    return slots;
  }
  std::vector<Slot> result;
  std::optional<Slot> waiting;
  for (const Slot& slot : slots) {
    if (slot.pass != Pass::kForward) {
      if (waiting) result.push_back(*waiting);
      waiting = slot;
      continue;
    }
    result.push_back(slot);
    if (!waiting) continue;
    result.back().joined = result.back().in_turns = true;
    result.push_back(*std::exchange(waiting, std::nullopt));
  }
  if (waiting) result.push_back(*waiting);
  return result;
}

}  // namespace

PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training) {
  if (parallel.listed) return parallel.listed->order;
  const ScheduleRequest request{.stages = parallel.pp,
                                .chunks = parallel.virtual_stages,
                                .microbatches = static_cast<int>(parallel.microbatches(training)),
                                .group = parallel.microbatch_group};
  if (!parallel.flushes()) return steady_order(request);
  PipelineOrder order = find_schedule(parallel.schedule).order(request);
  if (parallel.experts.overlap_exchange) std::ranges::transform(order, order.begin(), combined);
  return order;
}

}  // namespace ringwright::workload
