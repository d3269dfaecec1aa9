#include <stdexcept>

#include <gtest/gtest.h>

#include "planning/operation/goodput_file.h"
#include "planning/operation/job_life.h"
#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning::policies_test {
namespace {

// 8 hosts of 8 GPUs in 4 replicas of 2 hosts; a step takes 10 s, saves cost nothing, every 100 s. One fault of one host
// at 355 s is noticed at once.
const std::string kFourReplicas =
    "job: {gpus: 64, replicas: 4, step_time: 10 s}\nduration: 1000 s\ndetection: {crash: 0 s}\n"
    "restart: {schedule: 100 s, container: 0 s, init: {base: 5 s, per_rank: 0 s}}\n"
    "checkpoint: {tiers: {store: {every: 10 steps, stall: 0 s, load: 20 s}}}\n"
    "spares: {standby: 0}\nrepair: {time: 200 s}\n";

LifeResult life_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  auto plan = load_goodput_text("job.yaml", kFourReplicas + text, settings, {.threads = 1, .progress = {}});
  if (!plan) throw std::runtime_error(render(plan.error()));
  return JobLife(*plan->operation, *plan->policies.front().policy, 1).live();
}

const std::string kOneLoss = "components: {node: {per: job, times: [355 s]}}\n";

double seconds_in(const LifeResult& life, Account account) {
  return seconds_of(life.accounts[account]);
}

// Waits 200 s for the repair, restarts in 105 s and loads in 20 s, and does 55 s again.
TEST(Policies, RestartWaitsForItsHosts) {
  const LifeResult life = life_of(kOneLoss + "recovery: {policy: restart}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kWaiting), 200.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 125.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 55.0);
}

TEST(Policies, AHotSpareCopiesTheStateOfAnotherReplica) {
  const LifeResult life =
      life_of(kOneLoss + "recovery: {policy: hot_spare, hot_spare: {stall: 20 s}}\n", {"spares.standby=1"});
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 20.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 5.0);
}

// With 3 of 4 replicas a step takes 40/3 s. Grows when the host is back at 555 s: another restart of 105 s and the
// load.
TEST(Policies, ShrinkTrainsOnWithFewerReplicas) {
  const LifeResult life = life_of(kOneLoss + "recovery: {policy: shrink}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kWaiting), 0.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 250.0);
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (555.0 - 480.0) / 4.0, 1e-6);
}

// 24 GPUs on 3 hosts: each replica has 12, and the host in the middle holds 4 of both.
JobShape two_replicas_on_three_hosts() {
  return {.gpus = 24, .gpus_per_host = 8, .replicas = 2, .tokens_per_step = 0, .step = JobTime(1)};
}

TEST(Policies, AHostOfTwoReplicasBreaksBoth) {
  Operation operation;
  operation.job = two_replicas_on_three_hosts();
  for (const auto& [slot, whole] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 0}, {2, 1}}) {
    const std::vector<std::int64_t> empty{slot};
    EXPECT_EQ((JobView{.operation = operation, .empty = empty}.whole_replicas()), whole) << "host " << slot;
  }
}

TEST(Policies, AJobWithoutFaultsIsWhole) {
  EXPECT_EQ(two_replicas_on_three_hosts().replicas_on(3), 2);
  EXPECT_EQ(two_replicas_on_three_hosts().replicas_on(2), 1);
  const std::string job = "job: {gpus: 24, replicas: 2, step_time: 10 s}\n";
  for (const char* const policy : {"shrink", "replica_drop", "commit", "shrink_collective"}) {
    const std::string text = kFourReplicas.substr(kFourReplicas.find('\n') + 1) + job + "recovery: {policy: " + policy +
                             ", commit: {commit: 0 s}}\n";
    const auto plan = load_goodput_text("job.yaml", text, {}, {.threads = 1, .progress = {}});
    ASSERT_TRUE(plan) << render(plan.error());
    const LifeResult life = JobLife(*plan->operation, *plan->policies.front().policy, 1).live();
    EXPECT_DOUBLE_EQ(seconds_in(life, Account::kProductive), 1000.0) << policy;
  }
}

TEST(Policies, ThatDivideHostsNeedReplicasOfWholeOnes) {
  Operation operation;
  operation.job = two_replicas_on_three_hosts();
  for (const char* const name : {"redundant", "templates", "reshard"}) {
    EXPECT_EQ(find_policy(name)->refusal(operation), "a replica of 12 GPUs ends within a host of 8") << name;
  }
  operation.job.gpus = 32;
  for (const char* const name : {"redundant", "templates", "reshard"}) {
    EXPECT_EQ(find_policy(name)->refusal(operation), "") << name;
  }
}

// 3 min of stall, 7 min at 3 of 4 replicas: FT-HSDP's cycle with four replicas.
TEST(Policies, AReplicaDropsOutAndRejoins) {
  const LifeResult life = life_of(
      kOneLoss + "recovery: {policy: replica_drop, replica_drop: {stall: 180 s, rejoin_after: 420 s, rejoin: 0 s}}\n",
      {"spares.standby=1", "duration=2000 s"});
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 180.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 5.0);
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), 420.0 / 4.0, 1e-6);
}

// The neighbour does both stages until the host is back at 555 s and has started (105 s): 5 s of failover before.
TEST(Policies, ANeighbourComputesTheLostStage) {
  const LifeResult life =
      life_of(kOneLoss + "recovery: {policy: redundant, redundant: {failover_slowdown: 2, join: 0 s}}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 5.0);
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (660.0 - 360.0) / 2.0, 1e-6);
  EXPECT_EQ(life.waits, 0);
}

TEST(Policies, TwoNeighboursAtOnceNeedACheckpoint) {
  const LifeResult life =
      life_of("components: {node: {per: job, hosts: 2, times: [355 s]}}\nrecovery: {policy: redundant}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 55.0);
  EXPECT_EQ(life.waits, 1);
}

// 7 of 8 hosts: 8/7 of the time, from 360 s to 555 s, with 5 s to build pipelines anew at both ends.
TEST(Policies, TemplatesUseEveryHostThatIsLeft) {
  const LifeResult life = life_of(kOneLoss + "recovery: {policy: templates}\n");
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (555.0 - 360.0) / 8.0, 1e-6);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 10.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 5.0);
}

// 5 whole steps since the version, stages of 80 % of a step, 4 helpers: 5 x 10 s x 0.8 / 4, and the started step.
TEST(Policies, LoggingReplaysOnlyTheLostStages) {
  const LifeResult life = life_of(kOneLoss + "recovery: {policy: logging, logging: {stage_share: 80%, helpers: 4}}\n",
                                  {"spares.standby=1"});
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 10.0 + 5.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 125.0);
}

// Elastic Horovod with commits every 4 steps: the fault at 355 s is in step 36, the last commit after 32 = 320 s. 3 s
// to meet and 100 GB at 50 GB/s; with three of four replicas until the host is back at 555 s, and again 5 s then.
TEST(Policies, ACommitLosesLessThanItsInterval) {
  const LifeResult life = life_of(kOneLoss +
                                  "recovery: {policy: commit, commit: {commit_every: 4, rendezvous: 3 s, state: 100GB, "
                                  "bandwidth: 50GB/s}}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 35.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 10.0);
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (555.0 - 360.0) / 4.0, 1e-6);
  for (const int every : {1, 2, 5, 7}) {
    const LifeResult other = life_of(kOneLoss + "recovery: {policy: commit, commit: {commit_every: " +
                                     std::to_string(every) + "}}\n");
    EXPECT_LT(seconds_in(other, Account::kReplay), 10.0 * static_cast<double>(every) + 1e-9) << every;
  }
}

// 1 s for each commit, every second step of 10 s: 5 % of the time without any fault.
TEST(Policies, CommitsCostTime) {
  const LifeResult life =
      life_of("components: {}\nrecovery: {policy: commit, commit: {commit_every: 2, commit: 1 s}}\n");
  EXPECT_NEAR(seconds_in(life, Account::kDegraded) / 1000.0, 0.05 / 1.05, 1e-3);
}

// 64 processes: 5 x 6 hops of 10 ms, 2 s for communicators. The started step is not lost.
TEST(Policies, AShrunkCommunicatorLosesOnlyTheCollective) {
  const LifeResult life = life_of(kOneLoss +
                                  "recovery: {policy: shrink_collective, shrink_collective: {hop: 10 ms, "
                                  "communicators: 2 s, collective: 500 ms}}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 0.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 0.3 + 2.0 + 0.5 + (0.3 + 2.0));
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (555.0 - 357.8) / 4.0, 1e-6);
}

// 7 of 8 hosts: three replicas of two. Host 0 fails (the draw decides which); whoever moves up fetches at most one half
// of the state: 100 GB at 50 GB/s x 1/2 = 1 s, and 1 s for the plan, twice.
TEST(Policies, ReshardingFetchesWhatHostsLack) {
  const LifeResult life = life_of(kOneLoss +
                                  "recovery: {policy: reshard, reshard: {reconfigure: 1 s, state: 100GB, bandwidth: "
                                  "50GB/s}}\n");
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kReplay), 5.0);
  EXPECT_LE(seconds_in(life, Account::kRestart), 4.0);
  EXPECT_GE(seconds_in(life, Account::kRestart), 2.0);
  // Six of eight hosts work.
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (555.0 - 357.0) / 4.0, 1.0);
  EXPECT_EQ(life.waits, 0);
}

// Nobody stops, not even while the fault is found (50 s): the job loses at most one worker's shard of 80 s, an eighth
// of its time, and goes on with 7 of 8 hosts.
TEST(Policies, AShardGoesBackToTheQueue) {
  const LifeResult life = life_of(kOneLoss + "recovery: {policy: shards, shards: {shard: 80 s, join_after: 0 s}}\n",
                                  {"detection.crash=50 s"});
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kDetect), 0.0);
  EXPECT_DOUBLE_EQ(seconds_in(life, Account::kRestart), 0.0);
  EXPECT_GT(seconds_in(life, Account::kReplay), 0.0);
  EXPECT_LE(seconds_in(life, Account::kReplay), 10.0);
  EXPECT_NEAR(seconds_in(life, Account::kDegraded), (200.0 - seconds_in(life, Account::kReplay)) / 8.0, 0.1);
}

TEST(Policies, ACopyNeedsASizeAndABandwidth) {
  for (const std::string given : {"state: 1GB", "bandwidth: 1GB/s"}) {
    EXPECT_THROW(static_cast<void>(life_of(kOneLoss + "recovery: {policy: commit, commit: {" + given + "}}\n")),
                 std::runtime_error);
  }
}

// K5: hosts in groups of two with one, one and three times the hazard. In 3,000 lives of 12 hosts faults fall on the
// third group three times as often.
TEST(Components, HaveTheHazardOfTheirPlace) {
  const std::string text =
      "job: {gpus: 96, step_time: 10 s}\nduration: 100000 h\ndetection: {crash: 0 s}\n"
      "restart: {schedule: 0 s, container: 0 s, init: {base: 0 s, per_rank: 0 s}}\nspares: {standby: 0}\n"
      "repair: {time: 1 us}\ncheckpoint: {tiers: {store: {every: 1 h, stall: 0 s}}}\n";
  const auto faults = [&](const std::string& factors) {
    auto plan = load_goodput_text("job.yaml",
                                  text + "components: {gpu: {per: gpu, mtbf: 10000 h" + factors + "}}\n", {},
                                  {.threads = 1, .progress = {}});
    if (!plan) throw std::runtime_error(render(plan.error()));
    const Operation& operation = *plan->operation;
    const LifeResult life = JobLife(operation, *plan->policies.front().policy, 1).live();
    EXPECT_NEAR(static_cast<double>(life.all_faults()) / (operation.faults_per_hour() * 100'000.0), 1.0, 0.1);
    return operation.faults_per_hour();
  };
  EXPECT_DOUBLE_EQ(faults(", by_place: {hosts: 2, factors: [1, 1, 3]}") / faults(""), 5.0 / 3.0);
  for (const std::string wrong : {"factors: []", "factors: [0, 0]", "factors: [x]", "factors: [-1]"}) {
    EXPECT_THROW(static_cast<void>(faults(", by_place: {" + wrong + "}")), std::runtime_error) << wrong;
  }
}

TEST(Policies, EveryRowHasAFactoryAndAName) {
  for (const PolicyEntry& entry : recovery_policies()) {
    EXPECT_EQ(find_policy(entry.name), &entry);
    EXPECT_NE(entry.make, nullptr);
  }
  EXPECT_EQ(find_policy("hope"), nullptr);
}

}  // namespace
}  // namespace ringwright::planning::policies_test
