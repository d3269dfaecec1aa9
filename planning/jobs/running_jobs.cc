#include "planning/jobs/running_jobs.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ringwright::planning {

RunningJobs::RunningJobs(const ClusterInputs& inputs)
    : inputs_(inputs), pool_(inputs.shape), states_(inputs.jobs.size()), results_(inputs.jobs.size()) {
  for (std::size_t job = 0; job < states_.size(); ++job) {
    states_[job].remaining = inputs.jobs[job].service;
    states_[job].waits_since = inputs.jobs[job].submit;
  }
}

ClusterJobView RunningJobs::view(std::size_t job) const {
  const JobState& state = states_[job];
  return {.job = &inputs_.jobs[job],
          .remaining = state.remaining,
          .attained = state.attained,
          .gpus = state.grant ? state.grant->gpus() : 0};
}

void RunningJobs::advance(std::size_t job, double now) {
  JobState& state = states_[job];
  if (!state.grant || now <= state.since) return;
  const double time = now - state.since;
  const double gpus = state.grant->gpus() * state.grant->percent / 100.0;
  state.remaining = std::max(0.0, state.remaining - time * state.speed);
  state.attained += time * gpus;
  state.since = now;
  const ClusterJob& own = inputs_.jobs[job];
  // What the same GPUs would do at their best locality.
  const double best = state.grant->percent < 100 ? state.speed : inputs_.speed.at_best(own, state.grant->gpus());
  totals_.productive += time * gpus * (best > 0.0 ? state.speed / best : 0.0);
}

void RunningJobs::expect_end(std::size_t job) {
  JobState& state = states_[job];
  ends_.push({.at = state.since + state.remaining / state.speed, .job = job, .version = ++state.version});
}

bool RunningJobs::goes_on(std::size_t job, const Grant& grant, double now) const {
  const JobState& state = states_[job];
  const auto is_same = [](const Grant::Part& a, const Grant::Part& b) { return a.host == b.host && a.gpus == b.gpus; };
  return state.before && std::ranges::equal(state.before->parts, grant.parts, is_same) && !(state.stopped_at < now);
}

void RunningJobs::put_on(std::size_t job, Grant grant, double now) {
  JobState& state = states_[job];
  JobResult& result = results_[job];
  if (goes_on(job, grant, now)) {
    state.since = std::max(now, state.since);
  } else {
    const SchedulerSettings& settings = inputs_.settings;
    state.since = now + settings.reconfigure + (result.starts > 0 ? settings.restart : 0.0);
    if (state.preempted) ++totals_.preemptions;
    ++result.starts;
  }
  state.preempted = false;
  const ClusterJob& own = inputs_.jobs[job];
  state.speed = grant.percent < 100 ? 1.0 : inputs_.speed.of(own, grant.gpus(), grant.locality);
  result.last = grant.locality;
  state.before.reset();
  state.grant = std::move(grant);
  expect_end(job);
}

bool RunningJobs::start(std::size_t job, int gpus, Search search, double now) {
  const ClusterJob& own = inputs_.jobs[job];
  const JobState& state = states_[job];
  const bool just_stopped = state.before && !(state.stopped_at < now) && state.before->gpus() == gpus;
  std::optional<Grant> grant;
  if (just_stopped && pool_.take_again(*state.before)) {
    grant = state.before;
  } else {
    grant = own.percent < 100 ? pool_.take_share(own.percent) : pool_.take(gpus, search);
  }
  if (!grant) return false;
  JobResult& result = results_[job];
  if (result.starts == 0) result.first_start = now;
  result.waited += now - states_[job].waits_since;
  states_[job].waits_since = now;  // since then it runs
  put_on(job, std::move(*grant), now);
  running_.insert(std::ranges::lower_bound(running_, job), job);
  return true;
}

// Its GPUs are free again.
void RunningJobs::drop(std::size_t job, double now) {
  JobState& state = states_[job];
  advance(job, now);
  results_[job].running += now - state.waits_since;
  state.waits_since = now;
  ++state.version;
  pool_.give_back(*state.grant);
  state.before = std::move(state.grant);
  state.grant.reset();
  running_.erase(std::ranges::lower_bound(running_, job));
}

void RunningJobs::stop(std::size_t job, double now) {
  drop(job, now);
  states_[job].stopped_at = now;
  states_[job].preempted = true;
}

bool RunningJobs::migrate(std::size_t job, double now) {
  advance(job, now);
  JobState& state = states_[job];
  const ClusterJob& own = inputs_.jobs[job];
  const int gpus = state.grant->gpus();
  if (state.grant->percent < 100 || state.grant->locality == inputs_.speed.best_locality(gpus)) return false;
  // Its own GPUs may be part of the better place.
  pool_.give_back(*state.grant);
  auto better = pool_.take(gpus, Search::kStrict);
  if (better) {
    const double speed = inputs_.speed.of(own, gpus, better->locality);
    const double stays = std::max(0.0, state.since - now) + state.remaining / state.speed;
    const double stands = inputs_.settings.restart + inputs_.settings.reconfigure;
    if (stands + state.remaining / speed < stays) {
      put_on(job, std::move(*better), now);
      ++totals_.migrations;
      return true;
    }
    pool_.give_back(*better);
  }
  const bool same = pool_.take_again(*state.grant);
  CHECK(same, "what was given back is free");
  return false;
}

std::optional<double> RunningJobs::next_end() {
  while (!ends_.empty() && ends_.top().version != states_[ends_.top().job].version) ends_.pop();
  if (ends_.empty()) return std::nullopt;
  return ends_.top().at;
}

std::size_t RunningJobs::end_until(double now) {
  std::size_t ended = 0;
  for (auto at = next_end(); at && *at <= now; at = next_end()) {
    const End end = ends_.top();
    ends_.pop();
    drop(end.job, end.at);
    states_[end.job].remaining = 0.0;
    results_[end.job].end = end.at;
    ++ended;
  }
  return ended;
}

}  // namespace ringwright::planning
