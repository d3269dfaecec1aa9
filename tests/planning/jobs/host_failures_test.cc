#include "planning/jobs/host_failures.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/jobs/arrivals.h"
#include "planning/jobs/cluster_file.h"
#include "planning/jobs/cluster_run.h"

namespace ringwright::planning::host_failures_test {
namespace {

using testing::HasSubstr;

ClusterJob job_of(double submit, int gpus, double service) {
  ClusterJob job;
  job.submit = submit;
  job.gpus = job.least = job.most = gpus;
  job.service = service;
  return job;
}

ClusterRun run_of(const ClusterShape& shape, const std::vector<ClusterJob>& jobs, std::string_view policy,
                  const FailureSettings& failures, double restart = 30.0) {
  const auto made = std::ranges::find(scheduling_policies(), policy, &SchedulingPolicyEntry::name)->make();
  const JobSpeed speeds(shape, GivenSpeed{});
  return run_cluster({.shape = shape,
                      .jobs = jobs,
                      .speed = speeds,
                      .policy = *made,
                      .settings = {.restart = restart},
                      .failures = failures});
}

constexpr FailureSettings kFailures{.host_mtbf = 1'000.0, .repair = 50.0, .checkpoint = 100.0, .seed = 7};

// Up times have the mean that is given, and a host is down for as long as a repair takes.
TEST(HostFailures, FollowTheMeanTimeBetweenThem) {
  HostFailures failures(kFailures, 1, 0.0);
  constexpr int kRounds = 20'000;
  double up_since = 0.0;
  double up = 0.0;
  for (int i = 0; i < kRounds; ++i) {
    const HostFailures::Event fails = failures.take();
    ASSERT_TRUE(fails.fails);
    up += fails.at - up_since;
    const HostFailures::Event repaired = failures.take();
    ASSERT_FALSE(repaired.fails);
    EXPECT_DOUBLE_EQ(repaired.at, fails.at + 50.0);
    up_since = repaired.at;
  }
  EXPECT_NEAR(up / kRounds, 1'000.0, 4.0 * 1'000.0 / std::sqrt(static_cast<double>(kRounds)));  // four deviations
}

// One job on the one host, which fails: the job has saved at multiples of 100 s, waits for the repair, restarts for 30
// s, and repeats what came after its last checkpoint.
TEST(HostFailures, AJobRepeatsWhatItHadNotSaved) {
  const ClusterShape shape{.hosts = 1, .gpus_per_host = 2, .hosts_per_unit = 1};
  const double fails = HostFailures(kFailures, 1, 0.0).next();
  const double unsaved = std::fmod(fails, 100.0);
  ASSERT_GT(unsaved, 0.0);
  const double service = fails + 1.0;  // ends soon after
  const ClusterRun run = run_of(shape, {job_of(0, 2, service)}, "fifo", kFailures);
  ASSERT_EQ(run.totals.stopped_by_failures, 1U);
  EXPECT_NEAR(run.jobs[0].end, fails + 50.0 + 30.0 + unsaved + 1.0, 1e-6);
  EXPECT_NEAR(run.totals.lost, 2.0 * unsaved, 1e-6);
  EXPECT_NEAR(run.totals.productive, 2.0 * service, 1e-6);
  EXPECT_NEAR(run.totals.down, 2.0 * 50.0, 1e-6);
  EXPECT_DOUBLE_EQ(run.jobs[0].waited, 50.0);
}

// The first of two hosts fails and the other one does not: it takes the job at once.
TEST(HostFailures, AJobGoesOnOnAnotherHost) {
  const ClusterShape shape{.hosts = 2, .gpus_per_host = 2, .hosts_per_unit = 2};
  FailureSettings failures = kFailures;
  double fails = 0.0;
  for (;; ++failures.seed) {
    HostFailures both(failures, 2, 0.0);
    const HostFailures::Event first = both.take();
    fails = first.at;
    const HostFailures::Event second = both.take();
    if (first.host == 0 && second.host == 0 && both.next() > fails + 200.0) break;
  }
  const ClusterRun run = run_of(shape, {job_of(0, 2, fails + 1.0)}, "fifo", failures, 0.0);
  EXPECT_DOUBLE_EQ(run.jobs[0].waited, 0.0);
  EXPECT_NEAR(run.jobs[0].end, fails + std::fmod(fails, 100.0) + 1.0, 1e-6);
  EXPECT_EQ(run.jobs[0].starts, 2);
}

// Whatever the policy: what GPUs did is the work of all jobs, and what was repeated of it.
TEST(HostFailures, WorkAddsUp) {
  ArrivalSettings settings;
  settings.count = 200;
  settings.span = 20'000.0;
  settings.median = 300.0;
  settings.longest = 5'000.0;
  settings.gpus = {1, 2, 4, 6};
  settings.weights = {4, 3, 2, 1};
  settings.share = 4'000;
  const std::vector<ClusterJob> jobs = generated_jobs(settings);
  double work = 0.0;
  for (const ClusterJob& job : jobs) work += job.service * job.gpus * job.share / kWholeGpu;
  const ClusterShape shape{.hosts = 4, .gpus_per_host = 4, .hosts_per_unit = 2};
  FailureSettings failures = kFailures;
  failures.host_mtbf = 5'000.0;
  for (const SchedulingPolicyEntry& policy : scheduling_policies()) {
    const ClusterRun run = run_of(shape, jobs, policy.name, failures, 0.0);
    EXPECT_GT(run.totals.stopped_by_failures, 10U) << policy.name;
    EXPECT_NEAR(run.totals.productive, work, 1e-6 * work) << policy.name;
    EXPECT_NEAR(run.totals.allocated, work + run.totals.lost, 1e-6 * work) << policy.name;
    const double capacity = shape.gpus() * (run.last_end - run.first_submit);
    EXPECT_LE(run.totals.allocated + run.totals.down, capacity * (1.0 + 1e-9)) << policy.name;
  }
}

TEST(HostFailures, AreRefusedWhereAJobWouldHardlyEnd) {
  const auto read = [](const std::string& failures) {
    const auto plan = load_cluster_plan_text(
        "week.yaml", "cluster: {hosts: 100}\njobs: {count: 10, gpus: [800], weights: [1], median: 10h, longest: 10h}\n"
                     "failures: {" +
                         failures + "}\n");
    return plan ? render(plan->warnings) : "refused: " + render(plan.error());
  };
  EXPECT_THAT(read("host_mtbf: 10000 h, repair: 1 h"), HasSubstr("0 errors, 0 warnings"));
  EXPECT_THAT(read("host_mtbf: 5 h"), HasSubstr("week.yaml:3:23: error[E485]: a job on 100 hosts fails 10.2 times"));
  EXPECT_THAT(read("host_mtbf: 1000 h, repair: 100 h"),
              HasSubstr("a job needs 100 of 100 hosts, of which 9.09 are down on average"));
  EXPECT_THAT(read("repair: 1 h"), HasSubstr("failures.host_mtbf"));
  EXPECT_THAT(read("host_mtbf: 1000 h, checkpoint: 0 s"), HasSubstr("'failures.checkpoint' is below a second"));
}

}  // namespace
}  // namespace ringwright::planning::host_failures_test
