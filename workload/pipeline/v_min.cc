// V-Min: two thirds of 1F1B's bubble with a third of what 1F1B holds (and a constant more).
//
// Qi et al., "Pipeline Parallelism with Controllable Memory" (arXiv 2405.15362): every pass follows the one before at
// once, lives of 4p units in all. On a stage, forward of chunk 0 and gradient of chunk 1 fall on units of one parity,
// the other two on the other; the two of a pair lie 2p apart, which must not be a multiple of the period, so that for
// p divisible by 3 the loss takes two units more.
#include "workload/builtin.h"
#include "workload/pipeline/building_block.h"

namespace ringwright::workload {

PipelineOrder v_min_order(const ScheduleRequest& request) {
  return repeat_block(request, {.loss = request.stages % 3 == 0 ? 3 : 1}, {});
}

}  // namespace ringwright::workload
