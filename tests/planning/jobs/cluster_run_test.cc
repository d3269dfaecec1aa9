#include "planning/jobs/cluster_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/jobs/arrivals.h"
#include "planning/jobs/cluster_study.h"
#include "planning/jobs/gpu_pool.h"

namespace ringwright::planning::cluster_run_test {
namespace {

ClusterJob job_of(double submit, int gpus, double service) {
  ClusterJob job;
  job.submit = submit;
  job.gpus = job.least = job.most = gpus;
  job.service = service;
  return job;
}

ClusterRun run_of(const ClusterShape& shape, const std::vector<ClusterJob>& jobs, std::string_view policy,
                  const SchedulerSettings& settings = {}, const GivenSpeed& speed = {}) {
  const auto entry = std::ranges::find(scheduling_policies(), policy, &SchedulingPolicyEntry::name);
  const auto made = entry->make();
  const JobSpeed speeds(shape, speed);
  return run_cluster({.shape = shape, .jobs = jobs, .speed = speeds, .policy = *made, .settings = settings});
}

constexpr ClusterShape kOneHost{.hosts = 1, .gpus_per_host = 8, .hosts_per_unit = 1};

// 8 GPUs for 100 s, and then what waits.
TEST(ClusterRun, FifoServesInTheOrderOfSubmission) {
  const ClusterRun run = run_of(kOneHost, {job_of(0, 8, 100), job_of(1, 8, 50), job_of(2, 8, 10)}, "fifo");
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 100.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].first_start, 150.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 160.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].waited, 148.0);
  EXPECT_DOUBLE_EQ(run.totals.allocated, 8.0 * 160.0);
}

TEST(ClusterRun, ShortestFirstServesTheShortestThatWaits) {
  const ClusterRun run = run_of(kOneHost, {job_of(0, 8, 100), job_of(1, 8, 50), job_of(2, 8, 10)}, "sjf");
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 110.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 160.0);
  EXPECT_EQ(run.totals.preemptions, 0U);
}

// Hosts 0, 2 and 4 are free from 10 s on, each in another unit: a job of two hosts waits for a unit, and one of three,
// which no unit holds, need not wait with it.
TEST(ClusterRun, AJobOfSeveralUnitsPassesOneThatWaitsForAUnit) {
  std::vector<ClusterJob> jobs;
  for (const double service : {10.0, 1000.0, 10.0, 1000.0, 10.0, 1000.0}) jobs.push_back(job_of(0, 8, service));
  jobs.push_back(job_of(1, 16, 50));
  jobs.push_back(job_of(2, 24, 50));
  const ClusterRun run = run_of({.hosts = 6, .gpus_per_host = 8, .hosts_per_unit = 2}, jobs, "fifo");
  EXPECT_DOUBLE_EQ(run.jobs[6].first_start, 1000.0);
  EXPECT_DOUBLE_EQ(run.jobs[7].first_start, 10.0);
}

// Two jobs of 2 GPUs are on two hosts of 4, and one of 4 has what is left of both from 11 s on. The last one comes
// before all, and needs 3 GPUs of one host: those of the job of 4 do not suffice, so that one of 2 moves to the other
// host. The job of 4 goes on at 70 s, on a host of its own.
TEST(ClusterRun, APlaceIsMadeForTheFirstJobOnOneHost) {
  const std::vector<ClusterJob> jobs{job_of(0, 2, 300), job_of(0, 2, 5), job_of(0, 2, 300), job_of(1, 4, 1000),
                                     job_of(20, 3, 50)};
  const ClusterRun run = run_of({.hosts = 2, .gpus_per_host = 4, .hosts_per_unit = 2}, jobs, "srtf",
                                {.relax_after = 10.0, .restart = 30.0});
  EXPECT_DOUBLE_EQ(run.jobs[3].first_start, 11.0);
  EXPECT_DOUBLE_EQ(run.jobs[4].first_start, 20.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 330.0);
  EXPECT_DOUBLE_EQ(run.jobs[3].waited, 10.0 + 50.0);
  EXPECT_DOUBLE_EQ(run.jobs[3].end, 70.0 + 30.0 + 991.0);
}

// 3 * 3.3 / 3.3 is less than 3 in binary.
TEST(ClusterRun, RoundsOfAnyLengthFollowEachOther) {
  const ClusterRun run = run_of(kOneHost, {job_of(0, 8, 100), job_of(1, 8, 50)}, "fifo_preemptive", {.round = 3.3});
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 31 * 3.3);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 31 * 3.3 + 50.0);
}

// The second job stops the first at 10 s, which goes on at 20 s, and loses 30 s to its restart: 90 s are left.
TEST(ClusterRun, ShortestRemainingTimeStopsARunningJob) {
  const ClusterRun run = run_of(kOneHost, {job_of(0, 8, 100), job_of(10, 8, 10)}, "srtf", {.restart = 30.0});
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 20.0);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 20.0 + 30.0 + 90.0);
  EXPECT_EQ(run.totals.preemptions, 1U);
  EXPECT_DOUBLE_EQ(run.jobs[0].waited, 10.0);
  EXPECT_DOUBLE_EQ(run.totals.productive, 8.0 * 110.0);
}

// After 450 s on 8 GPUs the first job has an hour of GPU time and falls behind a new one, at the next round.
TEST(ClusterRun, TiresiasPrefersTheLeastAttained) {
  const ClusterRun run =
      run_of(kOneHost, {job_of(0, 8, 3'000), job_of(100, 8, 300)}, "tiresias", {.round = 60.0, .restart = 0.0});
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 480.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 780.0);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 3'300.0);
}

TEST(ClusterRun, WithoutBackfillSmallJobsWaitForLargeOnes) {
  const std::vector<ClusterJob> jobs{job_of(0, 6, 100), job_of(1, 8, 10), job_of(2, 2, 10)};
  EXPECT_DOUBLE_EQ(run_of(kOneHost, jobs, "fifo").jobs[2].first_start, 2.0);
  EXPECT_DOUBLE_EQ(run_of(kOneHost, jobs, "fifo", {.backfill = false}).jobs[2].first_start, 110.0);
}

// Half of two hosts is in use: a job of 8 waits for a whole host, or takes both halves, which is slower.
TEST(ClusterRun, RelaxedLocalityTradesSpeedForWaiting) {
  const ClusterShape shape{.hosts = 2, .gpus_per_host = 8, .hosts_per_unit = 1};
  std::vector<ClusterJob> jobs{job_of(0, 5, 1'000), job_of(0, 5, 1'000), job_of(1, 6, 100)};
  const GivenSpeed speed{.scaling = 1.0, .factor = {1.0, 0.9, 0.5}};
  const ClusterRun strict = run_of(shape, jobs, "fifo", {}, speed);
  EXPECT_DOUBLE_EQ(strict.jobs[2].first_start, 1'000.0);
  EXPECT_GT(strict.totals.blocked, 990.0);
  const ClusterRun relaxed = run_of(shape, jobs, "fifo", {.relax_after = 60.0}, speed);
  EXPECT_DOUBLE_EQ(relaxed.jobs[2].first_start, 61.0);
  EXPECT_DOUBLE_EQ(relaxed.jobs[2].end, 261.0);
  EXPECT_EQ(relaxed.jobs[2].last, Locality::kFabric);
  EXPECT_LT(relaxed.totals.productive, relaxed.totals.allocated);
}

// At 500 s a host is free: the rest of 60 s at half speed takes 120 s, and 60 s after a restart of 10 s.
TEST(ClusterRun, AJobMovesWhereThatPays) {
  const ClusterShape shape{.hosts = 2, .gpus_per_host = 8, .hosts_per_unit = 1};
  const std::vector<ClusterJob> jobs{job_of(0, 5, 500), job_of(0, 5, 1'000), job_of(0, 6, 310)};
  const SchedulerSettings settings{.relax_after = 0.0, .migrate = true, .restart = 10.0};
  const ClusterRun run = run_of(shape, jobs, "fifo", settings, {.scaling = 1.0, .factor = {1.0, 0.9, 0.5}});
  EXPECT_EQ(run.totals.migrations, 1U);
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 570.0);
}

// Each of two jobs of the whole cluster waits for its own connections: 10 + 100 s, then 10 + 50 s.
TEST(ClusterRun, EveryStartConnectsTheHosts) {
  const std::vector<ClusterJob> jobs{job_of(0, 8, 100), job_of(0, 8, 50)};
  const ClusterRun run = run_of(kOneHost, jobs, "fifo", {.restart = 1'000.0, .reconfigure = 10.0});
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 110.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 170.0);
  EXPECT_DOUBLE_EQ(run.totals.productive, 8.0 * 150.0);
}

TEST(ClusterRun, ElasticJobsUseWhatIsFree) {
  std::vector<ClusterJob> jobs{job_of(0, 4, 100)};
  jobs[0].most = 8;
  EXPECT_DOUBLE_EQ(run_of(kOneHost, jobs, "elastic_fifo").jobs[0].end, 50.0);
  EXPECT_DOUBLE_EQ(run_of(kOneHost, jobs, "afs_l").jobs[0].end, 50.0);
}

TEST(ClusterRun, ElasticJobsMakeRoom) {
  std::vector<ClusterJob> jobs{job_of(0, 8, 1'000), job_of(10, 8, 1'000)};
  for (ClusterJob& job : jobs) job.least = 4;
  const ClusterRun run = run_of(kOneHost, jobs, "elastic_fifo", {.restart = 0.0});
  EXPECT_LE(run.jobs[1].first_start, 60.0);
  EXPECT_EQ(run.totals.preemptions, run.totals.resizes);
}

// Four quarters of a GPU are one GPU.
TEST(ClusterRun, PartsOfGpusShareThem) {
  std::vector<ClusterJob> jobs(16, job_of(0, 1, 100));
  EXPECT_EQ(run_of(kOneHost, jobs, "fifo").totals.peak_gpus, 8);
  for (ClusterJob& job : jobs) job.share = kWholeGpu / 4;
  const ClusterRun shared = run_of(kOneHost, jobs, "fifo");
  EXPECT_EQ(shared.totals.peak_gpus, 4);
  EXPECT_DOUBLE_EQ(shared.last_end, 100.0);
  EXPECT_DOUBLE_EQ(shared.totals.allocated, 400.0);
}

// Nothing happens at the round after the last end, which is not part of the time of the run.
ClusterJob half_gpu_of(double submit, double service) {
  ClusterJob job = job_of(submit, 1, service);
  job.share = kWholeGpu / 2;
  return job;
}

// The shortest remaining job needs all GPUs of the host: the half that a long one has is no exception.
TEST(ClusterRun, ElasticPoliciesStopPartsAsWellAsWholeGpus) {
  for (const char* const policy : {"elastic_srjf", "afs_l"}) {
    const ClusterRun run = run_of(kOneHost, {half_gpu_of(0, 36'000), job_of(60, 8, 3'600)}, policy, {.restart = 0.0});
    EXPECT_DOUBLE_EQ(run.jobs[1].end, 60.0 + 3'600.0) << policy;
    EXPECT_DOUBLE_EQ(run.jobs[0].end, 36'000.0 + 3'600.0) << policy;
  }
}

// After 100 s two long jobs of half a GPU are alone on their GPUs, and would fit on one. The job that may have 7 GPUs
// goes on with the other 6.
TEST(ClusterRun, AnElasticJobTakesWhatPartsLeave) {
  std::vector<ClusterJob> jobs{half_gpu_of(0, 36'000), half_gpu_of(0, 100), half_gpu_of(0, 36'000), half_gpu_of(0, 100),
                               job_of(0, 4, 3'600)};
  jobs.back().least = 2;
  jobs.back().most = 8;
  for (const char* const policy : {"elastic_fifo", "elastic_tiresias", "afs_l"}) {
    const ClusterRun run = run_of(kOneHost, jobs, policy, {.restart = 0.0});
    EXPECT_LT(run.jobs[4].end, 3'601.0) << policy;
    EXPECT_EQ(run.jobs[4].starts, 1) << policy;
  }
}

TEST(ClusterRun, EndsWithTheLastJobAndNotWithItsRound) {
  for (const SchedulingPolicyEntry& policy : scheduling_policies()) {
    const ClusterRun run = run_of(kOneHost, {job_of(0, 8, 90), job_of(0, 8, 10)}, policy.name, {.round = 60.0});
    EXPECT_DOUBLE_EQ(run.last_end, std::max(run.jobs[0].end, run.jobs[1].end)) << policy.name;
  }
}

// Elastic policies divide whole GPUs: halves of one are one to them, as they are to the others.
TEST(ClusterRun, EveryPolicyLetsPartsShareAGpu) {
  std::vector<ClusterJob> jobs(4, job_of(0, 1, 100));
  for (ClusterJob& job : jobs) job.share = kWholeGpu / 2;
  jobs.push_back(job_of(0, 6, 100));
  for (const SchedulingPolicyEntry& policy : scheduling_policies()) {
    const ClusterRun run = run_of(kOneHost, jobs, policy.name);
    EXPECT_DOUBLE_EQ(run.last_end, 100.0) << policy.name;
    EXPECT_DOUBLE_EQ(run.totals.allocated, 800.0) << policy.name;
    EXPECT_DOUBLE_EQ(run.totals.computing, 800.0) << policy.name;  // four halves of a GPU, and six of them
  }
}

constexpr ClusterShape kOneGpu{.hosts = 1, .gpus_per_host = 1, .hosts_per_unit = 1};

ClusterRun shared_run(const std::vector<ClusterJob>& jobs, SharingKind sharing) {
  const auto made = std::ranges::find(scheduling_policies(), "fifo", &SchedulingPolicyEntry::name)->make();
  const JobSpeed speeds(kOneGpu, GivenSpeed{});
  return run_cluster({.shape = kOneGpu, .jobs = jobs, .speed = speeds, .policy = *made, .sharing = sharing});
}

ClusterJob third_of_gpu(double submit, double service, double demand, bool opportunistic = false) {
  ClusterJob job = job_of(submit, 1, service);
  job.share = kWholeGpu / 3;
  job.demand = demand;
  job.opportunistic = opportunistic;
  return job;
}

// From 50 s to 150 s two jobs share the GPU: the first has done 50 s alone and 50 s of its 100 s at half speed; the
// second has 50 s left, which it computes alone.
TEST(ClusterRun, SpeedsFollowWhoIsOnTheGpu) {
  const ClusterRun run = shared_run({third_of_gpu(0, 100, 1.0), third_of_gpu(50, 100, 1.0)}, SharingKind::kTimeSlicing);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 150.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 200.0);
  EXPECT_NEAR(run.totals.computing, 200.0, 1e-9);  // a GPU's kernels are no more than the GPU
}

// The opportunistic job stands while the guaranteed one computes all the time, and the second guaranteed one waits.
TEST(ClusterRun, OpportunisticJobsWaitForGuaranteedOnes) {
  const ClusterRun run = shared_run(
      {third_of_gpu(0, 100, 1.0), third_of_gpu(0, 10, 1.0, true), third_of_gpu(1, 20, 0.6)}, SharingKind::kAntMan);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 100.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].first_start, 100.0);  // one guaranteed job a GPU
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 120.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 122.0);  // 8 s in 20 s at 0.4, then 2 s
}

TEST(GpuPool, GivesBackWhatItGave) {
  GpuPool pool({.hosts = 4, .gpus_per_host = 8, .hosts_per_unit = 2});
  const auto whole = pool.take(16, Search::kStrict);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->locality, Locality::kUnit);
  const auto part = pool.take_share(kWholeGpu * 6 / 10);
  const auto other = pool.take_share(kWholeGpu * 6 / 10);  // another GPU: 40 % of the first are left
  EXPECT_EQ(pool.free(), 14);
  EXPECT_EQ(pool.fragmented(), 6);
  EXPECT_FALSE(pool.take(16, Search::kStrict));
  pool.give_back(*part);
  pool.give_back(*other);
  pool.give_back(*whole);
  EXPECT_EQ(pool.free(), 32);
  EXPECT_EQ(pool.fragmented(), 0);
}

// The share of time in use, and jobs' times, agree with the input whatever the policy.
TEST(ClusterRun, EveryPolicyEndsEveryJobAndAddsUp) {
  ArrivalSettings settings;
  settings.count = 400;
  settings.span = 86'400.0;
  settings.gpus = {1, 2, 4, 8, 16};
  settings.weights = {4, 2, 2, 3, 1};
  std::vector<ClusterJob> jobs = generated_jobs(settings);
  for (ClusterJob& job : jobs) {
    job.least = std::max(1, job.gpus / 2);
    job.most = job.gpus * 2;
  }
  const ClusterShape shape{.hosts = 4, .gpus_per_host = 8, .hosts_per_unit = 2};
  for (const SchedulingPolicyEntry& policy : scheduling_policies()) {
    const ClusterRun run = run_of(shape, jobs, policy.name);
    double held = 0.0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const JobResult& job = run.jobs[j];
      EXPECT_GE(job.first_start, jobs[j].submit) << policy.name;
      EXPECT_NEAR(job.end - jobs[j].submit, job.waited + job.running, 1e-6) << policy.name;
      held += job.running;
    }
    EXPECT_GT(held, 0.0);
    EXPECT_LE(run.totals.allocated, shape.gpus() * run.last_end * (1.0 + 1e-9)) << policy.name;
    EXPECT_LE(run.totals.productive, run.totals.allocated * (1.0 + 1e-9)) << policy.name;
  }
}

double mean_completion(const std::vector<ClusterJob>& jobs, std::string_view policy) {
  const ClusterShape shape{.hosts = 16, .gpus_per_host = 8, .hosts_per_unit = 4};
  const ClusterRun run = run_of(shape, jobs, policy, {}, {.scaling = 0.9});
  double sum = 0.0;
  for (std::size_t j = 0; j < jobs.size(); ++j) sum += run.jobs[j].end - jobs[j].submit;
  return sum / static_cast<double>(jobs.size());
}

// Voda (IC2E'23): elastic variants complete jobs no later than those with fixed sizes.
TEST(ClusterRun, ElasticPoliciesShortenCompletion) {
  ArrivalSettings settings;
  settings.count = 1'500;
  settings.span = 2.0 * 86'400.0;
  settings.gpus = {1, 2, 4, 8, 16, 32};
  settings.weights = {8, 4, 4, 6, 2, 1};
  settings.median = 400.0;
  std::vector<ClusterJob> jobs = generated_jobs(settings);
  for (ClusterJob& job : jobs) {
    job.least = std::max(1, job.gpus / 4);
    job.most = job.gpus * 2;
  }
  EXPECT_LE(mean_completion(jobs, "elastic_fifo"), mean_completion(jobs, "fifo"));
  EXPECT_LE(mean_completion(jobs, "elastic_srjf"), mean_completion(jobs, "srtf"));
  EXPECT_LE(mean_completion(jobs, "elastic_tiresias"), mean_completion(jobs, "tiresias"));
  EXPECT_LE(mean_completion(jobs, "afs_l"), mean_completion(jobs, "fifo"));
}

// Half of the span for the same jobs: the queue grows all the time. Voda's FIFO is the one that chooses anew in each
// round; one that lets small jobs pass and never stops them is no elastic policy's counterpart.
TEST(ClusterRun, ElasticPoliciesShortenCompletionUnderOverload) {
  ArrivalSettings settings;
  settings.count = 1'500;
  settings.span = 86'400.0 / 2.0;
  settings.gpus = {1, 2, 4, 8, 16, 32};
  settings.weights = {8, 4, 4, 6, 2, 1};
  settings.median = 1'600.0;
  std::vector<ClusterJob> jobs = generated_jobs(settings);
  for (ClusterJob& job : jobs) {
    job.least = std::max(1, job.gpus / 2);
    job.most = job.gpus * 2;
  }
  EXPECT_LE(mean_completion(jobs, "elastic_fifo"), mean_completion(jobs, "fifo_preemptive"));
  EXPECT_LE(mean_completion(jobs, "elastic_tiresias"), mean_completion(jobs, "tiresias"));
  EXPECT_LE(mean_completion(jobs, "afs_l"), mean_completion(jobs, "fifo_preemptive"));
}

std::vector<int> sizes_of(std::string_view policy, const std::vector<ClusterJobView>& jobs, double scaling) {
  const auto entry = std::ranges::find(scheduling_policies(), policy, &SchedulingPolicyEntry::name);
  return entry->make()->sizes(jobs, 8, JobSpeed(kOneHost, GivenSpeed{.scaling = scaling}));
}

// Voda's elastic_fifo.go: 1 + 2 GPUs, and the five that are left one by one until the second has its most.
TEST(ClusterRun, WhatIsLeftGoesToElasticJobsInTurn) {
  ClusterJob first = job_of(0, 2, 100);
  first.least = 1;
  first.most = 8;
  ClusterJob second = job_of(1, 2, 100);
  second.most = 3;
  const std::vector<ClusterJobView> views{{.job = &first}, {.job = &second}};
  EXPECT_EQ(sizes_of("elastic_fifo", views, 1.0), (std::vector<int>{5, 3}));
}

// Wu et al. (TPDS 2021): six of eight GPUs are a new job's, two an older one's, and others wait. Once more than ten
// do, the older one shrinks to its least, and its GPU goes where the speed grows most: sqrt(1/2) x 2 = 1.41 for the
// first of the job that waits, (1 - sqrt(1/2)) x 2 = 0.59 for the second of the older one.
TEST(ClusterRun, ElasticTiresiasShrinksOlderJobsWhileManyWait) {
  const ClusterJob fresh = job_of(0, 6, 100);
  ClusterJob older = job_of(0, 2, 100);
  older.least = 1;
  const auto divided = [&](int waiting) {
    std::vector<ClusterJobView> views(1 + static_cast<std::size_t>(waiting), {.job = &fresh});
    views.push_back({.job = &older, .attained = 7'200.0});
    views.push_back({.job = &older, .attained = 72'000.0});
    std::vector<int> sizes = sizes_of("elastic_tiresias", views, 0.5);
    return std::vector<int>{sizes.front(), sizes[sizes.size() - 2], sizes.back()};
  };
  EXPECT_EQ(divided(9), (std::vector<int>{6, 2, 0}));   // ten wait
  EXPECT_EQ(divided(10), (std::vector<int>{6, 1, 1}));  // eleven
}

// The older and larger job gets its GPUs back at the next round, from those that passed it.
TEST(ClusterRun, PreemptiveFifoServesInTheOrderOfSubmissionAtAnyTime) {
  const std::vector<ClusterJob> jobs{job_of(0, 6, 100), job_of(1, 8, 300), job_of(2, 2, 400)};
  const ClusterRun run = run_of(kOneHost, jobs, "fifo_preemptive", {.round = 60.0, .restart = 0.0});
  EXPECT_DOUBLE_EQ(run.jobs[2].first_start, 60.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 120.0);  // the first ended at 100 s
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 420.0 + 340.0);  // 60 of its 400 s were done
  EXPECT_EQ(run.totals.preemptions, 1U);
}

}  // namespace
}  // namespace ringwright::planning::cluster_run_test
