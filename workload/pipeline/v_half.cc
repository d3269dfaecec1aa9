// V-Half: half of 1F1B's bubble with half of its activation memory (plus one stage's chunks).
//
// Qi et al., "Pipeline Parallelism with Controllable Memory" (arXiv 2405.15362): lifespans of 6p units in total, from
// distances of 1 and 2.
#include "workload/builtin.h"
#include "workload/pipeline/building_block.h"

namespace ringwright::workload {

PipelineOrder v_half_order(const ScheduleRequest& request) {
  return repeat_block(request, {.down = 1, .up = 2, .gradient_down = 1, .gradient_up = 2}, {});
}

}  // namespace ringwright::workload
