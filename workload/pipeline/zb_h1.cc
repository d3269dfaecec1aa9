// ZB-H1: 1F1B whose weight gradients fill the gaps at the end. Bubble (p-1)(F+B-W), p microbatches in memory.
//
// Qi et al., "Zero Bubble Pipeline Parallelism" (ICLR 2024, arXiv 2401.10241), section 2.1.
#include "workload/builtin.h"
#include "workload/pipeline/zero_bubble.h"

namespace ringwright::workload {

PipelineOrder zb_h1_order(const ScheduleRequest& request) {
  return handcrafted_zero_bubble(request, 1);
}

}  // namespace ringwright::workload
