#include "workload/pipeline_order.h"

#include "workload/builtin.h"

namespace ringwright::workload {

PipelineOrder pipeline_order(const ParallelOptions& parallel, const TrainingOptions& training) {
  if (parallel.listed) return parallel.listed->order;
  return find_schedule(parallel.schedule)
      .order({.stages = parallel.pp,
              .chunks = parallel.virtual_stages,
              .microbatches = static_cast<int>(parallel.microbatches(training)),
              .group = parallel.microbatch_group});
}

}  // namespace ringwright::workload
