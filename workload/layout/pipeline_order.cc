#include "workload/layout/pipeline_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

// Every backward pass one forward pass later, and joined to it, so that both are of different microbatches (Megatron-LM
// adds a warmup microbatch for this).
std::vector<Slot> combined(const std::vector<Slot>& slots) {
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
