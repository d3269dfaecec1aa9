#include "configs/simulation/outer_steps.h"

#include <algorithm>

#include "workload/layout/stage_chunks.h"
#include "workload/memory/memory.h"

namespace ringwright::configs {
namespace {

// Of the pipeline stage with the most parameters of a rank.
Bytes largest_exchange(const Job& job) {
  const workload::LocalSgd& local = job.training.local_sgd;
  std::int64_t most = 0;
  for (int stage = 0; stage < job.parallel.pp; ++stage) {
    const std::vector<workload::ModelChunk> parts = workload::stage_chunks(job.model, job.parallel, stage);
    const std::int64_t owned = workload::owned_parameters(
        parts, {.shape = job.model, .training = job.training, .parallel = job.parallel});
    most = std::max(most, local.fragment_of(owned));
  }
  return Bytes(most * static_cast<std::int64_t>(bytes_per_element(local.exchanged)));
}

}  // namespace

OuterFacts add_outer_steps(const Scenario& scenario, Duration with, std::vector<TimePoint>& iteration_end) {
  const workload::LocalSgd& local = scenario.job.training.local_sgd;
  const auto warmup = static_cast<std::size_t>(scenario.simulate.warmup);
  const TimePoint first = warmup == 0 ? TimePoint() : iteration_end[warmup - 1];
  const auto counted = static_cast<std::int64_t>(iteration_end.size() - warmup);
  const Duration without = (iteration_end.back() - first) / std::max<std::int64_t>(counted, 1);
  const Duration added = std::max(with - without, Duration()) * local.fragments / local.every;
  for (std::size_t i = 0; i < iteration_end.size(); ++i) {
    iteration_end[i] = iteration_end[i] + added * static_cast<std::int64_t>(i + 1);
  }
  return {.every = local.every,
          .workers = local.workers,
          .fragments = local.fragments,
          .exchanged = largest_exchange(scenario.job),
          .without = without,
          .with = with,
          .added = added};
}

}  // namespace ringwright::configs
