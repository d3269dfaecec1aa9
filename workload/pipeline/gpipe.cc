// GPipe: all forward passes, then all backward passes. Bubble (p-1)(F+B), activations of all m microbatches in memory.
//
// Huang et al., "GPipe" (NeurIPS 2019, arXiv 1811.06965). Backward passes run in the order of the forward passes, as in
// Megatron's schedule without pipelining, so that neighbouring stages overlap.
#include "workload/builtin.h"

namespace ringwright::workload {

PipelineOrder gpipe_order(const ScheduleRequest& request) {
  std::vector<Slot> slots;
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    for (int microbatch = 0; microbatch < request.microbatches; ++microbatch) slots.push_back({pass, microbatch, 0});
  }
  return PipelineOrder(static_cast<std::size_t>(request.stages), slots);
}

}  // namespace ringwright::workload
