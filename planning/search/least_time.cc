#include "planning/search/least_time.h"

#include <algorithm>

#include "workload/step/least_step.h"

namespace ringwright::planning {

std::optional<Duration> least_time(const configs::Scenario& scenario, configs::LeastCalls& calls,
                                   workload::KnownLayouts* known) {
  const configs::Job& job = scenario.job;
  if (!job.trains_transformer() || job.partition.on()) return std::nullopt;
  const bool faster = std::ranges::any_of(scenario.faults.slowdown_of_host, [](double ratio) { return ratio < 1.0; });
  const bool one_kind = !scenario.cluster.mixed() && !faster;
  const bool one_step = scenario.simulate.steps == 1 && scenario.simulate.warmup == 0;
  if (!one_kind || !one_step) return std::nullopt;
  return workload::least_step({.shape = job.model, .training = job.training, .parallel = job.parallel}, *job.compute,
                              calls.of(job), known);
}

}  // namespace ringwright::planning
