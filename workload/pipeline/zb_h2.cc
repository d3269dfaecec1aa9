// ZB-H2: twice as many forward passes ahead as ZB-H1. Bubble (p-1)(F+B-2W) once m >= 2p, 2p-1 microbatches in memory.
//
// Qi et al., "Zero Bubble Pipeline Parallelism" (ICLR 2024, arXiv 2401.10241), section 2.2. The bubble is that of one
// stage's own timeline: stages start and end the training step one after the other, and need not wait for each other in
// between if the optimizer checks gradients afterwards.
#include "workload/builtin.h"
#include "workload/pipeline/zero_bubble.h"

namespace ringwright::workload {

PipelineOrder zb_h2_order(const ScheduleRequest& request) {
  return handcrafted_zero_bubble(request, 2);
}

}  // namespace ringwright::workload
