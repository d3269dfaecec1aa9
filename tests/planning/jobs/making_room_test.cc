#include "planning/jobs/making_room.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/jobs/arrivals.h"
#include "planning/jobs/cluster_run.h"

namespace ringwright::planning::making_room_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kHalf = kWholeGpu / 2;
constexpr ClusterShape kTwoHostsOfTwo{.hosts = 2, .gpus_per_host = 2, .hosts_per_unit = 2};
constexpr ClusterShape kTwoGpus{.hosts = 1, .gpus_per_host = 2, .hosts_per_unit = 1};

ClusterJob job_of(double submit, int gpus, double service, int share = kWholeGpu) {
  ClusterJob job;
  job.submit = submit;
  job.gpus = job.least = job.most = gpus;
  job.service = service;
  job.share = share;
  return job;
}

ClusterRun run_of(const ClusterShape& shape, const std::vector<ClusterJob>& jobs, std::string_view policy,
                  const SchedulerSettings& settings = {}, SharingKind sharing = SharingKind::kParts) {
  const auto made = std::ranges::find(scheduling_policies(), policy, &SchedulingPolicyEntry::name)->make();
  const JobSpeed speeds(shape, GivenSpeed{});
  return run_cluster(
      {.shape = shape, .jobs = jobs, .speed = speeds, .policy = *made, .settings = settings, .sharing = sharing});
}

// Jobs of one GPU on all of them; of two hosts, the fourth job is on the second.
struct FullPool {
  GpuPool pool{kTwoHostsOfTwo};
  std::vector<Grant> grants;
  FullPool() {
    for (int job = 0; job < kTwoHostsOfTwo.gpus(); ++job) grants.push_back(*pool.take(1, Search::kStrict));
  }
  [[nodiscard]] std::vector<std::size_t> stopped_for(int gpus, const std::vector<std::size_t>& order) {
    std::vector<const Grant*> later;
    for (const std::size_t job : order) later.push_back(&grants[job]);
    return jobs_that_make_room(pool, {.gpus = gpus}, later);
  }
};

TEST(MakingRoom, TheLastJobsInTheOrderStop) {
  EXPECT_THAT(FullPool().stopped_for(1, {0, 1, 2, 3}), ElementsAre(3));
  EXPECT_THAT(FullPool().stopped_for(2, {0, 1, 2, 3}), ElementsAre(2, 3));
}

// The last two are on different hosts: once the third one from the end is released, the place does without the second.
TEST(MakingRoom, NoJobStopsInVain) {
  EXPECT_THAT(FullPool().stopped_for(2, {0, 2, 1, 3}), ElementsAre(1, 3));  // jobs 2 and 3, of one host
  EXPECT_THAT(FullPool().stopped_for(2, {0, 1, 2}), ElementsAre(0, 1));
}

TEST(MakingRoom, NoneStopsWhereNoPlaceComesOfIt) {
  EXPECT_THAT(FullPool().stopped_for(2, {0, 2}), IsEmpty());
  EXPECT_THAT(FullPool().stopped_for(3, {0, 1}), IsEmpty());
}

TEST(MakingRoom, ThePoolIsLeftAsItWas) {
  FullPool full;
  EXPECT_THAT(full.stopped_for(2, {0, 2}), IsEmpty());
  EXPECT_THAT(full.stopped_for(2, {0, 1, 2, 3}), ElementsAre(2, 3));
  EXPECT_EQ(full.pool.free(), 0);
  full.pool.give_back(full.grants[0]);
  full.pool.give_back(full.grants[2]);
  EXPECT_FALSE(full.pool.has({.gpus = 2}));
  EXPECT_TRUE(full.pool.has({.gpus = 2, .search = Search::kRelaxed}));
}

// From 101 s on each host has a long job and a free GPU: enough for the shortest job, but on no host. It does not wait
// for a long one to end: one of them moves to the other host, for 30 s.
TEST(MakingRoom, AShorterJobGetsAPlaceAndNotOnlyAsManyGpus) {
  const std::vector<ClusterJob> jobs{job_of(0, 1, 1'000), job_of(1, 1, 100), job_of(2, 1, 1'000), job_of(200, 2, 50)};
  const ClusterRun run = run_of(kTwoHostsOfTwo, jobs, "srtf", {.restart = 30.0});
  EXPECT_DOUBLE_EQ(run.jobs[3].end, 250.0);
  EXPECT_EQ(run.totals.preemptions, 1U);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 1'000.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 1'002.0 + 30.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].waited, 0.0);
}

// With AntMan a GPU has one guaranteed job, although two halves would fit.
TEST(MakingRoom, AGuaranteedJobStopsALongerOneForItsGpu) {
  const std::vector<ClusterJob> jobs{job_of(0, 1, 1'000, kHalf), job_of(10, 1, 20, kHalf)};
  const ClusterShape one_gpu{.hosts = 1, .gpus_per_host = 1, .hosts_per_unit = 1};
  const ClusterRun run = run_of(one_gpu, jobs, "srtf", {.restart = 0.0}, SharingKind::kAntMan);
  EXPECT_DOUBLE_EQ(run.jobs[1].end, 30.0);
  EXPECT_DOUBLE_EQ(run.jobs[0].end, 1'020.0);
}

// Opportunistic jobs have what guaranteed ones leave: with AntMan they stop for one that finds no GPU.
// The last one stops first.
TEST(MakingRoom, OpportunisticJobsStopForGuaranteedOnesUnderAnyPolicy) {
  std::vector<ClusterJob> jobs(2, job_of(0, 1, 1'000, kHalf));
  jobs.push_back(job_of(10, 1, 20, kHalf));
  for (ClusterJob& job : jobs) job.demand = 0.5;
  for (ClusterJob& job : std::span(jobs).first(2)) job.opportunistic = true;
  const ClusterShape one_gpu{.hosts = 1, .gpus_per_host = 1, .hosts_per_unit = 1};
  for (const char* const policy : {"fifo", "sjf", "srtf", "fifo_preemptive"}) {
    const ClusterRun run = run_of(one_gpu, jobs, policy, {.round = 10.0, .restart = 30.0}, SharingKind::kAntMan);
    EXPECT_DOUBLE_EQ(run.jobs[2].end, 30.0) << policy;
    EXPECT_DOUBLE_EQ(run.jobs[0].end, 1'000.0) << policy;
    EXPECT_DOUBLE_EQ(run.jobs[1].end, 1'000.0 + 20.0 + 30.0) << policy;
  }
  // Time slices know no classes: the third job waits for one of the others.
  EXPECT_DOUBLE_EQ(run_of(one_gpu, jobs, "fifo", {}, SharingKind::kTimeSlicing).jobs[2].first_start, 1'000.0);
}

TEST(MakingRoom, OpportunisticJobsStopForOneOfSeveralGpus) {
  std::vector<ClusterJob> jobs{job_of(0, 1, 1'000, kHalf), job_of(10, 2, 20), job_of(11, 1, 500, kHalf)};
  jobs[0].opportunistic = true;
  const ClusterRun run = run_of(kTwoGpus, jobs, "fifo", {.restart = 30.0}, SharingKind::kTgs);
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 10.0);
  EXPECT_DOUBLE_EQ(run.jobs[2].first_start, 30.0);
  EXPECT_DOUBLE_EQ(run.jobs[0].waited, 20.0);
}

// It came first, and waits all the same for the guaranteed job that came later.
TEST(MakingRoom, GuaranteedJobsComeBeforeOpportunisticOnes) {
  std::vector<ClusterJob> jobs{job_of(0, 2, 100), job_of(1, 1, 50, kHalf), job_of(2, 2, 100)};
  jobs[1].opportunistic = true;
  const ClusterRun run = run_of(kTwoGpus, jobs, "fifo", {.backfill = false}, SharingKind::kAntMan);
  EXPECT_DOUBLE_EQ(run.jobs[2].first_start, 100.0);
  EXPECT_DOUBLE_EQ(run.jobs[1].first_start, 200.0);
}

// Two halves are alone on the two GPUs, and would fit on one. A job of a GPU comes before both: the later half joins
// the earlier one, and the job gets its GPU. Elastic policies act in rounds of 60 s.
TEST(MakingRoom, PartsOfGpusMakeRoomForAWholeOne) {
  std::vector<ClusterJob> jobs{job_of(0, 1, 9'000, kHalf), job_of(0, 1, 100, kHalf), job_of(0, 1, 9'000, kHalf),
                               job_of(120, 1, 300)};
  for (const char* const policy : {"srtf", "elastic_srjf", "afs_l"}) {
    const ClusterRun run = run_of(kTwoGpus, jobs, policy, {.restart = 10.0});
    EXPECT_DOUBLE_EQ(run.jobs[3].first_start, 120.0) << policy;
    EXPECT_DOUBLE_EQ(run.jobs[3].end, 420.0) << policy;
    EXPECT_NEAR(run.jobs[0].end + run.jobs[2].end, 2 * 9'000.0 + 10.0, 1e-9) << policy;
  }
}

// A job of one GPU waits; a half that comes after it fits next to another half, and takes nothing from it.
TEST(MakingRoom, PartsStartWhileWholeGpusAreInUse) {
  const std::vector<ClusterJob> jobs{job_of(0, 1, 100, kHalf), job_of(0, 1, 100), job_of(1, 1, 50),
                                     job_of(2, 1, 50, kHalf)};
  for (const char* const policy : {"fifo", "sjf"}) {
    EXPECT_DOUBLE_EQ(run_of(kTwoGpus, jobs, policy).jobs[3].end, 52.0) << policy;
  }
  // With strict order it waits for the job before it, which starts at 100 s.
  EXPECT_DOUBLE_EQ(run_of(kTwoGpus, jobs, "fifo", {.backfill = false}).jobs[3].first_start, 100.0);
}

// Neither part fits next to the other. The job of two GPUs stops both from 50 to 150 s; they lose nothing but the
// restart.
TEST(MakingRoom, PartsThatStoppedRepeatNothing) {
  const std::vector<ClusterJob> jobs{job_of(0, 1, 500, kHalf), job_of(0, 1, 500, kHalf + 1), job_of(50, 2, 100)};
  const ClusterRun run = run_of(kTwoGpus, jobs, "srtf", {.restart = 30.0});
  EXPECT_DOUBLE_EQ(run.jobs[2].end, 150.0);
  for (const std::size_t part : {0U, 1U}) {
    EXPECT_DOUBLE_EQ(run.jobs[part].end, 500.0 + 100.0 + 30.0);
    EXPECT_EQ(run.jobs[part].starts, 2);
  }
  EXPECT_NEAR(run.totals.productive, 500.0 * 0.5 + 500.0 * 0.5001 + 200.0, 1e-9);
}

TEST(MakingRoom, APartMayHaveItsPlaceAgain) {
  GpuPool pool(kTwoHostsOfTwo);
  const Grant half = *pool.take_share(kHalf);
  const Grant third = *pool.take_share(kWholeGpu / 3);
  pool.give_back(half);
  ASSERT_TRUE(pool.take_share(kHalf));  // next to the third
  EXPECT_FALSE(pool.take_again(half));
  pool.give_back(third);
  ASSERT_TRUE(pool.take_again(half));
  EXPECT_EQ(pool.shared_gpus(), 1);
  EXPECT_EQ(pool.free(), 3);
}

// Its number went to another GPU meanwhile, on the other host.
TEST(MakingRoom, APartMayHaveItsPlaceAgainUnderAnotherNumber) {
  GpuPool pool(kTwoHostsOfTwo);
  const Grant half = *pool.take_share(kHalf);
  pool.give_back(half);
  const Grant host = *pool.take(2, Search::kStrict);
  const Grant other = *pool.take_share(kHalf);
  ASSERT_NE(other.parts.front().host, half.parts.front().host);
  EXPECT_FALSE(pool.take_again(half));
  pool.give_back(host);
  const auto again = pool.take_again(half);
  ASSERT_TRUE(again);
  EXPECT_NE(again->shared_gpu, other.shared_gpu);
  EXPECT_EQ(again->parts.front().host, half.parts.front().host);
  EXPECT_EQ(pool.shared_gpus(), 2);
}

// Two hosts have the three GPUs, as few as can be, although one of them is in use.
TEST(GpuPool, WhatDoesNotFillAHostIsOnOneInUse) {
  GpuPool pool(kTwoHostsOfTwo);
  const Grant one = *pool.take(1, Search::kStrict);
  const auto three = pool.take(3, Search::kStrict);
  ASSERT_TRUE(three);
  EXPECT_EQ(three->locality, Locality::kUnit);
  EXPECT_EQ(three->parts.back().host, one.parts.front().host);
  EXPECT_EQ(three->parts.back().gpus, 1);
  EXPECT_EQ(pool.free(), 0);
}

// Of three units of two hosts, the first has a whole host and no part of one, the second a whole one and a part.
TEST(GpuPool, OneUnitHasTheWholeHostsAndTheRest) {
  GpuPool pool({.hosts = 4, .gpus_per_host = 4, .hosts_per_unit = 2});
  const Grant host = *pool.take(4, Search::kStrict);
  const Grant unit = *pool.take(8, Search::kStrict);
  ASSERT_TRUE(pool.take(1, Search::kStrict));
  pool.give_back(unit);
  ASSERT_TRUE(pool.take(4, Search::kStrict));
  EXPECT_FALSE(pool.has({.gpus = 8}));
  EXPECT_TRUE(pool.has({.gpus = 5, .search = Search::kRelaxed}));
  pool.give_back(host);
  const auto seven = pool.take(7, Search::kStrict);
  ASSERT_TRUE(seven);
  EXPECT_EQ(seven->locality, Locality::kUnit);
}

// Whatever runs when it is submitted comes after it.
TEST(MakingRoom, TheShortestJobNeverWaits) {
  ArrivalSettings settings;
  settings.count = 300;
  settings.span = 20'000.0;
  settings.gpus = {1, 2, 3, 4, 6};
  settings.weights = {4, 3, 2, 2, 1};
  settings.share = 4'000;
  std::vector<ClusterJob> jobs = generated_jobs(settings);
  const ClusterShape shape{.hosts = 4, .gpus_per_host = 4, .hosts_per_unit = 2};
  const auto shortest = std::ranges::min_element(jobs, {}, &ClusterJob::service);
  const auto at = static_cast<std::size_t>(shortest - jobs.begin());
  for (const SharingKind sharing : {SharingKind::kParts, SharingKind::kAntMan}) {
    const ClusterRun run = run_of(shape, jobs, "srtf", {}, sharing);
    EXPECT_DOUBLE_EQ(run.jobs[at].waited, 0.0);
  }
}

}  // namespace
}  // namespace ringwright::planning::making_room_test
