#include "planning/operation/job_life.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "planning/operation/goodput_file.h"
#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning::job_life_test {
namespace {

// 4 hosts of 8 GPUs in 2 replicas, steps of 10 s, detection 30 s, restart 100 s; unlimited hosts.
const std::string kJob =
    "job: {gpus: 32, replicas: 2, step_time: 10 s, tokens_per_step: 1000}\n"
    "detection: {crash: 30 s, hang: 600 s, slow: 50 s, corruption: 300 s}\n"
    "restart: {schedule: 100 s, container: 0 s, init: {base: 0 s, per_rank: 0 s}}\n";

GoodputPlan plan_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  auto plan = load_goodput_text("job.yaml", kJob + text, settings, {.threads = 1, .progress = {}});
  if (!plan) throw std::runtime_error(render(plan.error()));
  return std::move(*plan);
}

LifeResult life_of(const GoodputPlan& plan, std::uint64_t seed = 1) {
  return JobLife(*plan.operation, *plan.policies.front().policy, seed).live();
}

double seconds_in(const LifeResult& life, Account account) {
  return seconds_of(life.accounts[account]);
}

// Saves at 100 s, 200 s, ...; the fault at 355 s loses 55 s.
TEST(JobLife, AFaultCostsDetectionRestartLoadAndReplay) {
  const GoodputPlan plan = plan_of(
      "duration: 1000 s\ncomponents: {gpu: {times: [355 s]}}\n"
      "checkpoint: {tiers: {store: {every: 10 steps, stall: 0 s, load: 20 s}}}\n");
  const LifeResult life = life_of(plan);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDetect), 30.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 120.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 55.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 795.0);
  EXPECT_EQ(life.steps, 79);
  EXPECT_EQ(life.all_faults(), 1);
  EXPECT_EQ(life.lost[0], job_seconds(205.0));
}

// The second fault comes 10 s into the restart: its detection begins there, and the restart begins anew.
TEST(JobLife, AFaultDuringRecoveryRestartsTheRecovery) {
  const GoodputPlan plan = plan_of(
      "duration: 1000 s\ncomponents: {gpu: {times: [300 s, 340 s]}}\n"
      "checkpoint: {tiers: {store: {every: 10 steps, stall: 0 s, load: 20 s}}}\n");
  const LifeResult life = life_of(plan);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDetect), 60.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 130.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 0.0);
  EXPECT_EQ(life.in_recovery, 1);
  EXPECT_EQ(life.recoveries, 1);
}

TEST(JobLife, WithoutACheckpointAllIsLost) {
  const LifeResult life = life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [355 s]}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 355.0);
  EXPECT_EQ(life.from_start, 1);
}

TEST(JobLife, AHangLastsUntilTheTimeOut) {
  const LifeResult life = life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [200 s], kind: hang}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDetect), 600.0);
}

// Found 50 s after it began, at twice the step's time: 25 s of work in 50 s, then a recovery without detection.
TEST(JobLife, ASlowPartIsEvictedOnceFound) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [200 s], kind: slow, slowdown: 2}}\n"
                      "checkpoint: {tiers: {store: {every: 1 steps, stall: 0 s, load: 0 s}}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDegraded), 25.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 5.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDetect), 0.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 100.0);
}

TEST(JobLife, ASlowPartMayRecoverByItself) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [200 s], kind: slow, slowdown: 1.5, lasts: 300 s, "
                      "evicts: false}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDegraded), 100.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 900.0);
}

// The second part has the pace of the job while both are slow: 100 s at 1.5, 200 s at 2, 100 s at 1.5 times the step.
TEST(JobLife, TheSlowestPartIsChargedForLongerSteps) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents:\n"
                      "  slow: {times: [200 s], kind: slow, slowdown: 1.5, lasts: 400 s, evicts: false}\n"
                      "  slower: {times: [300 s], kind: slow, slowdown: 2, lasts: 200 s, evicts: false}\n"));
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), 200.0 / 3 + 100.0, 1e-6);
  EXPECT_NEAR(seconds_of(life.lost[0]), 200.0 / 3, 1e-6);
  EXPECT_NEAR(seconds_of(life.lost[1]), 100.0, 1e-6);
}

// Found at 250 s and missed: a restart until 350 s, found again 50 s later, and so on. The job
// is slow for 6 x 50 s, and loses half of them.
TEST(JobLife, ASlowHostThatDiagnosisMissesStaysSlow) {
  const LifeResult life = life_of(
      plan_of("duration: 1000 s\ncomponents: {node: {per: host, times: [200 s], kind: slow, slowdown: 2}}\n"
              "diagnosis: {finds: 0%}\n"));
  EXPECT_EQ(life.recoveries, 5);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 500.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDegraded), 150.0);
}

// Corrupt from 250 s on, found at 550 s: back to the version of 200 s, not to that of 500 s.
TEST(JobLife, CorruptionGoesBackToAVersionBeforeIt) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [250 s], kind: corruption}}\n"
                      "checkpoint: {tiers: {store: {every: 10 steps, stall: 0 s, load: 0 s}}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 350.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 100.0);
}

TEST(JobLife, UndetectedCorruptionIsCounted) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents: {gpu: {times: [250 s], kind: corruption, found: 0%}}\n"));
  EXPECT_EQ(life.undetected, 1);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 1000.0);
}

// One standby host; the second loss waits for the first host's repair, which ends 400 s after its removal at 130 s.
TEST(JobLife, WithoutAHostTheJobWaitsForRepair) {
  const LifeResult life =
      life_of(plan_of("duration: 1000 s\ncomponents: {node: {per: job, times: [100 s, 300 s]}}\n"
                      "spares: {standby: 1}\nrepair: {time: 400 s}\n"
                      "checkpoint: {tiers: {store: {every: 1 steps, stall: 0 s, load: 0 s}}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kWaiting), 200.0);  // from 330 s to 530 s
  EXPECT_EQ(life.waits, 1);
}

TEST(JobLife, PlannedStopsHaveTheirOwnAccount) {
  const LifeResult life = life_of(plan_of("duration: 1000 s\nplanned: {every: 400 s, takes: 50 s}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kPlanned), 100.0);  // at 400 s and 850 s
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 900.0);
}

// Memory of peers, a save at every step: one lost host costs the started step; both hosts of a pair cost the work since
// the store's version of 200 s.
TEST(JobLife, CopiesInPeersSurviveWhatTheirPlacementSurvives) {
  const std::string tiers =
      "checkpoint: {tiers: {peers: {place: peers, every: 1 steps, load: 1 s},"
      " store: {every: 20 steps, stall: 0 s, load: 60 s}}}\nduration: 1000 s\n";
  const LifeResult one = life_of(plan_of(tiers + "components: {h: {per: job, times: [355 s]}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(one, Account::kReplay), 5.0);
  EXPECT_DOUBLE_EQ(seconds_in(one, Account::kRestart), 101.0);
  const LifeResult pair = life_of(plan_of(tiers + "components: {h: {per: job, hosts: 2, times: [355 s]}}\n"));
  EXPECT_DOUBLE_EQ(seconds_in(pair, Account::kReplay), 155.0);
  EXPECT_DOUBLE_EQ(seconds_in(pair, Account::kRestart), 160.0);
}

// The same with parity: two lost hosts of the group of four cost the work since the store's version, unless two parts
// of each stripe are parity.
TEST(JobLife, ParitySurvivesAsManyLostHostsAsItHasParts) {
  const std::string rest =
      "store: {every: 20 steps, stall: 0 s, load: 60 s}}}\nduration: 1000 s\n"
      "components: {h: {per: job, hosts: 2, times: [355 s]}}\n";
  const std::string tiers = "checkpoint: {tiers: {peers: {place: peers, every: 1 steps, load: 1 s, parity: ";
  EXPECT_DOUBLE_EQ(seconds_in(life_of(plan_of(tiers + "1},\n" + rest)), Account::kReplay), 155.0);
  EXPECT_DOUBLE_EQ(seconds_in(life_of(plan_of(tiers + "2},\n" + rest)), Account::kReplay), 5.0);
}

// Software fails, and no host: versions that the training process holds are gone with it.
TEST(JobLife, VersionsOutliveTheTrainingProcessInOneOfTheirOwn) {
  const std::string text =
      "duration: 1000 s\ncomponents: {software: {per: job, hosts: 0, times: [355 s]}}\n"
      "checkpoint: {tiers: {memory: {place: host, every: 1 steps, load: 1 s}}}\n";
  EXPECT_DOUBLE_EQ(seconds_in(life_of(plan_of(text)), Account::kReplay), 5.0);
  const LifeResult lost = life_of(plan_of(text, {"checkpoint.tiers.memory.snapshot_process=false"}));
  EXPECT_DOUBLE_EQ(seconds_in(lost, Account::kReplay), 355.0);
  EXPECT_EQ(lost.from_start, 1);
}

// The partner of the first lost host dies before a new version is saved: the copies of both are gone.
TEST(JobLife, ASecondLossBeforeTheNextSaveCostsTheCopies) {
  const GoodputPlan plan = plan_of(
      "checkpoint: {tiers: {peers: {place: peers, every: 1 steps, load: 1 s},"
      " store: {every: 20 steps, stall: 0 s, load: 60 s}}}\nduration: 1000 s\n"
      "components: {h: {per: job, hosts: 4, times: [355 s, 390 s]}}\n");
  const LifeResult life = life_of(plan);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 155.0);
}

TEST(JobLife, EndsWithItsWork) {
  const LifeResult life =
      life_of(plan_of("work: 1000 s\ncomponents: {gpu: {times: [355 s]}}\n"
                      "checkpoint: {tiers: {store: {every: 10 steps, stall: 1 s, load: 20 s}}}\n"));
  EXPECT_TRUE(life.finished);
  EXPECT_EQ(life.steps, 100);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 1000.0);
}

// Restarts that always outlast the time between faults: the life ends after 50 times its work, unfinished.
TEST(JobLife, AJobWithoutProgressEnds) {
  const LifeResult life =
      life_of(plan_of("work: 1000 s\ncomponents: {gpu: {per: job, lifetime: 60 s}}\n", {"restart.schedule=1 h"}));
  EXPECT_FALSE(life.finished);
  EXPECT_EQ(life.wall, job_seconds(50'000.0));
}

// Every account, every policy, random everything: the accounts add up to the wall time in whole nanoseconds (a CHECK at
// the end of each life), and every productive nanosecond is a step's.
TEST(JobLife, EveryMomentBelongsToOneAccount) {
  const std::string all =
      "duration: 20 d\nclock: wall\ndiagnosis: {time: {distribution: lognormal, median: 60 s, mean: 300 s},"
      " finds: 95%, blames_wrong: 5%}\n"
      "spares: {standby: 1, pool: 1, select: 60 s, others: 1, preempt: 100 s, swap: 9 s, retire_after: 9}\n"
      "repair: {time: {distribution: exponential, mean: 5 h}, fails: 30%, escalates: 20%, second: {time: 1 d}}\n"
      "lemons: {share: 20%, factor: 5}\nplanned: {every: {distribution: exponential, mean: 3 d}, takes: 1 h}\n"
      "components:\n  gpu: {mtbf: 300 h, early: {factor: 4, until: 1 d}}\n  hang: {per: host, mtbf: 200 h, kind: "
      "hang}\n"
      "  old: {per: host, lifetime: {distribution: weibull, mean: 300 h, shape: 0.7}}\n"
      "  rack: {per: job, mtbf: 100 h, hosts: 2}\n  soft: {per: job, hosts: 0, mtbf: 50 h}\n"
      "  slow: {per: host, mtbf: 300 h, kind: slow, slowdown: 1.37, lasts: 20 min}\n"
      "  sdc: {mtbf: 2000 h, kind: corruption, found: 70%}\n"
      "checkpoint: {tiers: {peers: {place: peers, every: 3 steps, stall: 20 ms, write: 3 s, load: 2 s},"
      " store: {every: 20 min, stall: 3 s, write: 100 s, load: 40 s}}}\n"
      "recovery: {compare: [all]}\n";
  const GoodputPlan plan = plan_of(all, {"restart.schedule={distribution: uniform, from: 10 s, to: 300 s}",
                                         "restart.succeeds=80%", "restart.warmup=7 s"});
  ASSERT_EQ(plan.policies.size(), recovery_policies().size());
  for (const NamedPolicy& named : plan.policies) {
    ASSERT_EQ(named.refusal, "");
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const LifeResult life = JobLife(*plan.operation, *named.policy, seed).live();
      EXPECT_EQ(life.accounts.sum(), life.wall) << named.name;
      EXPECT_EQ(life.wall, job_seconds(20.0 * 86400.0)) << named.name;
      const JobTime steps = plan.operation->job.step * life.steps;
      EXPECT_GE(life.accounts[Account::kProductive], steps) << named.name;
      EXPECT_LT(life.accounts[Account::kProductive], steps + plan.operation->job.step) << named.name;
      EXPECT_GT(life.all_faults(), 20) << named.name;
      for (const JobTime time : life.accounts.times) EXPECT_GE(time, JobTime()) << named.name;
    }
  }
}

}  // namespace
}  // namespace ringwright::planning::job_life_test
