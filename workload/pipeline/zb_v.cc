// ZB-V: no bubble on a stage's own timeline when F = B = W, with the memory of 1F1B (2p chunks of half a stage).
//
// Qi et al., "Zero Bubble Pipeline Parallelism" (arXiv 2401.10241), section 6, as the block V-ZB of "Pipeline
// Parallelism with Controllable Memory" (arXiv 2405.15362): lifespans of 12p units in total. With distances 2 and 4,
// whose sum is the period, the four passes have the same positions within the period on every stage.
#include "workload/builtin.h"
#include "workload/pipeline/building_block.h"

namespace ringwright::workload {

PipelineOrder zb_v_order(const ScheduleRequest& request) {
  return repeat_block(request, {.down = 2, .up = 4, .gradient_down = 2, .gradient_up = 4},
                      {.held = 2 * request.stages, .warm_up = WarmUp::kEarly});
}

}  // namespace ringwright::workload
