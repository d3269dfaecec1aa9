// Interleaved 1F1B: every stage holds v chunks of the model, so that the bubble shrinks to (p-1)(F+B)/v.
//
// Narayanan et al., SC 2021 (arXiv 2104.04473), section 2.2. Microbatches go in groups of p: a group passes chunk 0,
// then chunk 1, and so on; backward passes take the chunks in reverse. Stage i does 2(p-1-i) + (v-1)p forward passes
// before its first backward pass. Needs a number of microbatches that p divides.
#include <algorithm>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

Slot nth(const ScheduleRequest& request, Pass pass, int n) {
  const int in_group = n % (request.stages * request.chunks);
  const int group = n / (request.stages * request.chunks);
  const int chunk = in_group / request.stages;
  return {.pass = pass,
          .microbatch = group * request.stages + in_group % request.stages,
          .chunk = pass == Pass::kForward ? chunk : request.chunks - 1 - chunk};
}

}  // namespace

std::vector<Slot> interleaved_order(const ScheduleRequest& request) {
  const int total = request.microbatches * request.chunks;
  const int warmup = std::min(2 * (request.stages - 1 - request.stage) + (request.chunks - 1) * request.stages, total);
  std::vector<Slot> slots;
  for (int i = 0; i < warmup; ++i) slots.push_back(nth(request, Pass::kForward, i));
  for (int i = warmup; i < total; ++i) {
    slots.push_back(nth(request, Pass::kForward, i));
    slots.push_back(nth(request, Pass::kBackward, i - warmup));
  }
  for (int i = total - warmup; i < total; ++i) slots.push_back(nth(request, Pass::kBackward, i));
  return slots;
}

}  // namespace ringwright::workload
