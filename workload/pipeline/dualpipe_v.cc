// DualPipeV: DualPipe cut in half. p stages hold the 2p chunks of one model in V shape, with DualPipe's order on 2p
// stages: bubble (p-1)(F&B + B - 3W) for passes of half a stage, 2p+1 of them in memory, weights once.
//
// Published with DeepSeek's DualPipe; "cut in half" is by Sea AI Lab. Needs m >= 2p.
#include "workload/builtin.h"
#include "workload/pipeline/dual.h"

namespace ringwright::workload {

PipelineOrder dualpipe_v_order(const ScheduleRequest& request) {
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    order.push_back(dual_order(
        {.position = stage, .positions = request.stages, .microbatches = request.microbatches}));
  }
  return order;
}

}  // namespace ringwright::workload
