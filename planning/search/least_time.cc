#include "planning/search/least_time.h"

#include <algorithm>

#include "workload/step/least_step.h"

namespace ringwright::planning {

std::optional<Duration> least_time(const BoundedJob& bounded, configs::LeastCalls& calls,
                                   workload::KnownLayouts* known) {
  const configs::Scenario& machine = bounded.machine;
  const configs::Job& job = bounded.job;
  if (!job.trains_transformer() || job.partition.on()) return std::nullopt;
  const bool faster = std::ranges::any_of(machine.faults.slowdown_of_host, [](double ratio) { return ratio < 1.0; });
  const bool one_kind = !machine.cluster.mixed() && !faster;
  const bool one_step = bounded.simulate.steps == 1 && bounded.simulate.warmup == 0;
  if (!one_kind || !one_step) return std::nullopt;
  return workload::least_step({.shape = job.model, .training = job.training, .parallel = job.parallel}, *job.compute,
                              calls.of(job), known);
}

}  // namespace ringwright::planning
