// V-Min: two thirds of 1F1B's bubble with a third of its activation memory (plus a constant).
//
// Qi et al., "Pipeline Parallelism with Controllable Memory" (arXiv 2405.15362): every pass immediately follows its
// predecessor, lifespans of 4p units in total. On a stage, forward of chunk 0 and gradient of chunk 1 are at units of
// one parity, the other two at the other; the two of a pair are 2p apart, which must not be a multiple of the period,
// so for p divisible by 3 the loss takes two more units.
#include "workload/builtin.h"
#include "workload/pipeline/building_block.h"

namespace ringwright::workload {

PipelineOrder v_min_order(const ScheduleRequest& request) {
  return repeat_block(request, {.loss = request.stages % 3 == 0 ? 3 : 1}, {});
}

}  // namespace ringwright::workload
