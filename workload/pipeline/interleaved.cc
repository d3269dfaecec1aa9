// Interleaved 1F1B: every stage holds v chunks of the model, so that the bubble shrinks to (p-1)(F+B)/v.
//
// Narayanan et al., SC 2021 (arXiv 2104.04473), section 2.2. Microbatches are processed in groups (of p, or Megatron's
// microbatch_group_size_per_virtual_pipeline_stage): a group passes chunk 0, then chunk 1, and so on; backward passes
// visit the chunks in reverse. Stage i runs 2(p-1-i) + (v-1) group forward passes before its first backward pass. The
// last group has the remaining microbatches.
#include <algorithm>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

struct Step {
  int microbatch = 0;
  int chunk = 0;
};

// In the order of forward passes.
std::vector<Step> steps_of(const ScheduleRequest& request, int group) {
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(request.microbatches) * static_cast<std::size_t>(request.chunks));
  for (int first = 0; first < request.microbatches; first += group) {
    const int end = std::min(first + group, request.microbatches);
    for (int chunk = 0; chunk < request.chunks; ++chunk) {
      for (int microbatch = first; microbatch < end; ++microbatch) steps.push_back({microbatch, chunk});
    }
  }
  return steps;
}

}  // namespace

PipelineOrder interleaved_order(const ScheduleRequest& request) {
  const int group = request.group > 0 ? request.group : request.stages;
  const std::vector<Step> steps = steps_of(request, group);
  const auto total = static_cast<int>(steps.size());
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    const int warmup = std::min(2 * (request.stages - 1 - stage) + (request.chunks - 1) * group, total);
    std::vector<Slot>& slots = order.emplace_back();
    slots.reserve(2 * steps.size());
    for (int i = 0; i < total + warmup; ++i) {
      if (i < total) {
        const Step& step = steps[static_cast<std::size_t>(i)];
        slots.push_back({Pass::kForward, step.microbatch, step.chunk});
      }
      if (i < warmup) continue;
      const Step& step = steps[static_cast<std::size_t>(i - warmup)];
      slots.push_back({Pass::kBackward, step.microbatch, request.chunks - 1 - step.chunk});
    }
  }
  return order;
}

}  // namespace ringwright::workload
