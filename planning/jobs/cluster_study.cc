#include "planning/jobs/cluster_study.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/jobs/machine_speeds.h"
#include "planning/jobs/scheduling_policy.h"
#include "planning/study/each_item.h"
#include "planning/study/quantiles.h"

namespace ringwright::planning {
namespace {

PolicyResult summarise_run(const ClusterPlan& plan, const std::string& policy, ClusterRun run) {
  PolicyResult result{
      .policy = policy, .totals = run.totals, .use = run.use, .makespan = run.last_end - run.first_submit};
  result.capacity = result.makespan * plan.shape.gpus();
  std::vector<double> waiting;
  std::vector<double> completion;
  std::vector<double> guaranteed;
  std::vector<double> opportunistic;
  for (std::size_t job = 0; job < run.jobs.size(); ++job) {
    waiting.push_back(run.jobs[job].waited);
    completion.push_back(run.jobs[job].end - plan.jobs[job].submit);
    (plan.jobs[job].opportunistic ? opportunistic : guaranteed).push_back(completion.back());
    ++result.jobs_at[static_cast<std::size_t>(run.jobs[job].last)];
  }
  result.waiting_quantiles = quantiles_of(waiting);
  result.completion_quantiles = quantiles_of(completion);
  result.waiting = distribution_of(std::move(waiting));
  result.completion = distribution_of(std::move(completion));
  result.guaranteed = distribution_of(std::move(guaranteed));
  result.opportunistic = distribution_of(std::move(opportunistic));
  result.jobs = std::move(run.jobs);
  return result;
}

// At which a job of so many GPUs may run: its best one, or `anywhere` in the cluster.
Locality widest_locality(const ClusterShape& shape, int gpus, bool anywhere) {
  const Locality best = JobSpeed(shape, GivenSpeed{}).best_locality(gpus);
  if (!anywhere || gpus < 2 || shape.hosts < 2) return best;
  return shape.units() > 1 ? Locality::kFabric : Locality::kUnit;
}

Diagnostics no_such_type(const ClusterPlan& plan, const ClusterJob& job, const std::vector<std::string>& names) {
  const std::string said = job.kind.empty() ? std::string("the log gives its jobs no type")
                                            : fmt::format("the log has jobs of type '{}'", job.kind);
  return failure("E486", fmt::format("{}, and 'speed.machine' has the jobs {}", said, join(names, ", ")),
                 {.file = plan.machine}, "name them as the log's column 'type' does, or list one job for all");
}

// Jobs of a log are of the type with their name; where the machine has a single one, all are of it.
Result<std::vector<ClusterJob>> typed_jobs(const ClusterPlan& plan) {
  std::vector<ClusterJob> jobs = plan.jobs;
  if (plan.machine.empty() || !plan.from_log) return jobs;
  const auto names = types_of_machine(plan.machine);
  if (!names) return tl::unexpected(names.error());
  for (ClusterJob& job : jobs) {
    const auto found = std::ranges::find(*names, job.kind);
    if (found != names->end()) {
      job.type = static_cast<std::uint32_t>(found - names->begin());
    } else if (names->size() > 1) {
      return tl::unexpected(no_such_type(plan, job, *names));
    }
  }
  return jobs;
}

Result<JobSpeed> speed_of(const ClusterPlan& plan, const std::vector<ClusterJob>& jobs, const Workers& workers) {
  if (plan.machine.empty()) return JobSpeed(plan.shape, plan.speed);
  const bool grow = std::ranges::any_of(plan.policies, [](const std::string& policy) {
    const auto entry = std::ranges::find(scheduling_policies(), policy, &SchedulingPolicyEntry::name);
    return entry->make()->resizes();
  });
  int most = 1;
  std::uint32_t types = 0;
  for (const ClusterJob& job : jobs) {
    most = std::max(most, grow ? job.most : job.gpus);
    types = std::max(types, job.type + 1);
  }
  const bool anywhere = grow || plan.scheduler.relax_after >= 0.0;
  auto rates = simulated_rates(
      plan.machine, plan.shape,
      {.most = most, .widest = widest_locality(plan.shape, most, anywhere), .elsewhere = anywhere}, workers);
  if (!rates) return tl::unexpected(std::move(rates.error()));
  if (types > rates->size()) {
    return tl::unexpected(
        failure("E486", "'jobs.types' has more types than 'speed.machine' has jobs", {.file = plan.machine}));
  }
  return anywhere ? JobSpeed(plan.shape, *rates) : JobSpeed(plan.shape, plan.speed);
}

}  // namespace

Distribution distribution_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto rank = [&](double share) {
    const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(at, 1, values.size()) - 1];
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = rank(0.5),
          .p90 = rank(0.9),
          .p95 = rank(0.95),
          .p99 = rank(0.99),
          .longest = values.back()};
}

Result<ClusterStudy> study_cluster(const ClusterPlan& plan, const Workers& workers) {
  const auto jobs = typed_jobs(plan);
  if (!jobs) return tl::unexpected(jobs.error());
  const auto speed = speed_of(plan, *jobs, workers);
  if (!speed) return tl::unexpected(speed.error());
  ClusterStudy study{.name = plan.name,
                     .shape = plan.shape,
                     .jobs = plan.jobs.size(),
                     .too_large = plan.too_large,
                     .without_gpus = plan.without_gpus,
                     .without_times = plan.without_times,
                     .sharing = plan.sharing,
                     .policies = std::vector<PolicyResult>(plan.policies.size())};
  each_item(plan.policies.size(), workers, [&](std::size_t item) {
    const auto entry = std::ranges::find(scheduling_policies(), plan.policies[item], &SchedulingPolicyEntry::name);
    const auto policy = entry->make();
    ClusterRun run = run_cluster({.shape = plan.shape,
                                  .jobs = *jobs,
                                  .speed = *speed,
                                  .policy = *policy,
                                  .settings = plan.scheduler,
                                  .sharing = plan.sharing,
                                  .failures = plan.failures});
    study.policies[item] = summarise_run(plan, plan.policies[item], std::move(run));
  });
  return study;
}

}  // namespace ringwright::planning
