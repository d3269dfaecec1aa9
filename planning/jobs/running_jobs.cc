#include "planning/jobs/running_jobs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "planning/jobs/making_room.h"

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

double RunningJobs::own_gpus(const JobState& state) const {
  if (state.grant->share == kWholeGpu) return state.grant->gpus();
  if (inputs_.sharing == SharingKind::kParts) return static_cast<double>(state.grant->share) / kWholeGpu;
  return 1.0 / static_cast<double>(on_shared_gpu_[state.grant->shared_gpu].size());
}

void RunningJobs::advance(std::size_t job, double now) {
  JobState& state = states_[job];
  if (!state.grant || now <= state.since) return;
  const double time = now - state.since;
  const double gpus = own_gpus(state);
  state.remaining = std::max(0.0, state.remaining - time * state.speed);
  state.attained += time * gpus;
  state.since = now;
  const ClusterJob& own = inputs_.jobs[job];
  // Of what its GPUs would do alone and at their best locality.
  const bool shares = state.grant->share < kWholeGpu;
  const double best = shares ? 1.0 : inputs_.speed.at_best(own, state.grant->gpus());
  const double pace = best > 0.0 ? state.speed / best : 0.0;
  const double productive = time * gpus * (shares ? 1.0 : pace);
  totals_.productive += productive;
  note_checkpoints(state, time, productive);
  // Kernels of jobs that share a GPU fill what they demand of it; those of a part fill the part.
  const bool together = inputs_.sharing != SharingKind::kParts;
  totals_.computing += time * (together ? state.grant->gpus() : gpus) * own.demand * pace;
}

void RunningJobs::note_checkpoints(JobState& state, double time, double productive) const {
  const double interval = inputs_.failures.checkpoint;
  if (!inputs_.failures.any()) return;
  const double since_last = state.since - (state.begun + interval * std::floor((state.since - state.begun) / interval));
  if (since_last > time) {
    state.unsaved += productive;
    return;
  }
  state.saved = state.remaining + since_last * state.speed;
  state.unsaved = productive * since_last / time;
}

void RunningJobs::expect_end(std::size_t job) {
  JobState& state = states_[job];
  if (!(state.speed > 0.0)) {
    ++state.version;  // until the others leave it a share
    return;
  }
  ends_.push({.at = state.since + state.remaining / state.speed, .job = job, .version = ++state.version});
}

void RunningJobs::advance_all_on(std::size_t gpu, double now) {
  for (const std::size_t job : on_shared_gpu_[gpu]) advance(job, now);
}

void RunningJobs::share_gpu(std::size_t gpu) {
  std::vector<JobOnGpu> jobs;
  for (const std::size_t job : on_shared_gpu_[gpu]) {
    jobs.push_back({.demand = inputs_.jobs[job].demand, .opportunistic = inputs_.jobs[job].opportunistic});
  }
  const std::vector<double> speeds = shared_speeds(inputs_.sharing, jobs);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const std::size_t job = on_shared_gpu_[gpu][i];
    states_[job].speed = speeds[i];
    expect_end(job);
  }
}

void RunningJobs::put_on(std::size_t job, Grant grant, Start start, double now) {
  JobState& state = states_[job];
  JobResult& result = results_[job];
  if (start == Start::kGoesOn) {
    state.since = std::max(now, state.since);
  } else {
    const SchedulerSettings& settings = inputs_.settings;
    state.since = now + settings.reconfigure + (result.starts > 0 ? settings.restart : 0.0);
    if (state.preempted) ++totals_.preemptions;
    ++result.starts;
    state.begun = state.since;
    state.saved = state.remaining;
    state.unsaved = 0.0;
  }
  state.preempted = false;
  const ClusterJob& own = inputs_.jobs[job];
  state.speed = grant.share < kWholeGpu ? 1.0 : inputs_.speed.of(own, grant.gpus(), grant.locality);
  result.last = grant.locality;
  state.before.reset();
  state.grant = std::move(grant);
  if (state.grant->share == kWholeGpu || inputs_.sharing == SharingKind::kParts) {
    expect_end(job);
    return;
  }
  const std::size_t gpu = state.grant->shared_gpu;
  if (gpu >= on_shared_gpu_.size()) on_shared_gpu_.resize(gpu + 1);
  advance_all_on(gpu, now);
  on_shared_gpu_[gpu].push_back(job);
  share_gpu(gpu);
}

GpuPool::Wish RunningJobs::wish_of(std::size_t job, int gpus, Search search) const {
  const ClusterJob& own = inputs_.jobs[job];
  const bool only_one = has_classes(inputs_.sharing) && !own.opportunistic;
  return {.gpus = gpus,
          .search = search,
          .share = own.share,
          .company = only_one ? GpuPool::Company::kOnlyOne : GpuPool::Company::kAny};
}

bool RunningJobs::start(std::size_t job, int gpus, Search search, double now) {
  const JobState& state = states_[job];
  std::optional<Grant> grant;
  if (just_stopped(job, now) && state.before->gpus() == gpus) grant = pool_.take_again(*state.before);
  const Start start = grant ? Start::kGoesOn : Start::kAnew;
  if (!grant) grant = pool_.take(wish_of(job, gpus, search));
  if (!grant) return false;
  JobResult& result = results_[job];
  if (result.starts == 0) result.first_start = now;
  result.waited += now - states_[job].waits_since;
  states_[job].waits_since = now;  // since then it runs
  put_on(job, std::move(*grant), start, now);
  running_.insert(std::ranges::lower_bound(running_, job), job);
  return true;
}

std::vector<std::size_t> RunningJobs::in_the_way(std::size_t job, int gpus, Search search,
                                                 std::span<const std::size_t> later) {
  std::vector<const Grant*> grants;
  for (const std::size_t other : later) grants.push_back(&*states_[other].grant);
  std::vector<std::size_t> stopped = jobs_that_make_room(pool_, wish_of(job, gpus, search), grants);
  for (std::size_t& one : stopped) one = later[one];
  return stopped;
}

// Its GPUs are free again.
void RunningJobs::drop(std::size_t job, double now) {
  JobState& state = states_[job];
  advance(job, now);
  const bool shares = state.grant->share < kWholeGpu && inputs_.sharing != SharingKind::kParts;
  if (shares) advance_all_on(state.grant->shared_gpu, now);
  results_[job].running += now - state.waits_since;
  state.waits_since = now;
  ++state.version;
  pool_.give_back(*state.grant);
  state.before = std::move(state.grant);
  state.grant.reset();
  running_.erase(std::ranges::lower_bound(running_, job));
  if (!shares) return;
  std::erase(on_shared_gpu_[state.before->shared_gpu], job);
  share_gpu(state.before->shared_gpu);
}

void RunningJobs::stop(std::size_t job, double now) {
  drop(job, now);
  states_[job].stopped_at = now;
  states_[job].preempted = true;
}

Grant RunningJobs::all_of_host(int host) const {
  return {.parts = {{.host = host, .gpus = inputs_.shape.gpus_per_host}}};
}

std::vector<std::size_t> RunningJobs::fail_host(int host, double now) {
  std::vector<std::size_t> stopped;
  for (const std::size_t job : running_) {
    if (std::ranges::count(states_[job].grant->parts, host, &Grant::Part::host) > 0) stopped.push_back(job);
  }
  for (const std::size_t job : stopped) {
    advance(job, now);
    JobState& state = states_[job];
    totals_.productive -= state.unsaved;
    totals_.lost += state.unsaved;
    state.remaining = state.saved;
    stop(job, now);
  }
  totals_.stopped_by_failures += stopped.size();
  ++totals_.host_failures;
  CHECK(pool_.take_again(all_of_host(host)), "no job is on the host");
  gpus_down_ += inputs_.shape.gpus_per_host;
  return stopped;
}

void RunningJobs::repair_host(int host) {
  pool_.give_back(all_of_host(host));
  gpus_down_ -= inputs_.shape.gpus_per_host;
}

bool RunningJobs::migrate(std::size_t job, double now) {
  advance(job, now);
  JobState& state = states_[job];
  const ClusterJob& own = inputs_.jobs[job];
  const int gpus = state.grant->gpus();
  if (state.grant->share < kWholeGpu || state.grant->locality == inputs_.speed.best_locality(gpus)) return false;
  // Its own GPUs may be part of the better place.
  pool_.give_back(*state.grant);
  auto better = pool_.take(gpus, Search::kStrict);
  if (better) {
    const double speed = inputs_.speed.of(own, gpus, better->locality);
    const double stays = std::max(0.0, state.since - now) + state.remaining / state.speed;
    const double stands = inputs_.settings.restart + inputs_.settings.reconfigure;
    if (stands + state.remaining / speed < stays) {
      put_on(job, std::move(*better), Start::kAnew, now);
      ++totals_.migrations;
      return true;
    }
    pool_.give_back(*better);
  }
  CHECK(pool_.take_again(*state.grant), "what was given back is free");
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
