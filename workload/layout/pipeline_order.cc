#include "workload/layout/pipeline_order.h"

#include "workload/builtin.h"

namespace ringwright::workload {

PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training) {
  if (parallel.listed) return parallel.listed->order;
  const ScheduleRequest request{.stages = parallel.pp,
                                .chunks = parallel.virtual_stages,
                                .microbatches = static_cast<int>(parallel.microbatches(training)),
                                .group = parallel.microbatch_group};
  return parallel.flushes() ? find_schedule(parallel.schedule).order(request) : steady_order(request);
}

}  // namespace ringwright::workload
