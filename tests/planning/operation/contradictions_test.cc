// Goodput files that contradict themselves or give what has no effect, and jobs that do not fill their hosts.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/operation/goodput.h"

namespace ringwright::planning::contradictions_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kJob = "duration: 20 d\nrepetitions: 2\njob: {gpus: 64, replicas: 4, step_time: 1 s}\n";
const std::string kSaves = "checkpoint: {tiers: {store: {every: 100 steps, stall: 1 s, load: 10 s}}}\n";

// Mistakes, or the warnings of a file without any.
std::string remarks(const std::string& text) {
  const auto result = goodput_text("goodput.yaml", text, {.intervals = false});
  const Diagnostics& found = result ? result->warnings : result.error();
  return found.all().empty() ? "" : render(found);
}

GoodputResult result_of(const std::string& text) {
  auto result = goodput_text("goodput.yaml", text, {.intervals = false});
  EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
  return result ? std::move(*result) : GoodputResult();
}

// 1,000 lives of 10 d of a GPU-hour rate of 1 / 400: 2.4 faults of 4 GPUs, although their host has 8. The standard
// error is sqrt(2.4 / 1000) = 0.05.
TEST(PartlyUsedHosts, FailAndCostByTheGpusOfTheJob) {
  const std::string job = "duration: 10 d\nrepetitions: 1000\njob: {gpus: 4, step_time: 1 s}\n" + kSaves +
                          "restart: {schedule: 0 s, container: 0 s, init: {base: 0 s, per_rank: 0 s}}\n"
                          "cost: {usd_per_gpu_hour: 2}\ndetection: {crash: 0 s}\n";
  const PolicyOutcome constant = result_of(job + "components: {gpu: {per: gpu, mtbf: 400 h}}\n").outcome;
  EXPECT_NEAR(constant.faults.mean, 2.4, 0.25);
  EXPECT_NEAR(constant.usd.value_or(0.0), 4 * 240 * 2.0, 1e-6);
  // One fault of each GPU at exactly 100 h, and one at 200 h.
  const PolicyOutcome aged = result_of(job + "components: {gpu: {per: gpu, lifetime: 100 h}}\n").outcome;
  EXPECT_NEAR(aged.faults.mean, 8.0, 1e-9);
}

TEST(GoodputFiles, AFaultTakesOutNoMoreHostsThanThereAre) {
  EXPECT_THAT(remarks(kJob + kSaves + "components: {rack: {per: job, mtbf: 10 d, hosts: 9}}\n"),
              HasSubstr("error[E402]: components.rack.hosts is 9, and the job has 8 hosts"));
  EXPECT_EQ(remarks(kJob + kSaves + "components: {rack: {per: job, mtbf: 10 d, hosts: 8}}\n"), "");
}

TEST(GoodputFiles, OneValueSaysHowSlowASlowPartIs) {
  EXPECT_THAT(remarks(kJob + kSaves + "components: {one: {per: host, mtbf: 10 d, kind: slow}}\n"),
              HasSubstr("error[E402]: 'components.one' is slow, and nothing says how slow"));
  EXPECT_THAT(remarks(kJob + kSaves +
                      "components: {one: {per: host, mtbf: 10 d, kind: slow, slowdown: 2, set: "
                      "{parallel.tp: 4}}}\n"),
              HasSubstr("error[E402]: components.one.slowdown and 'set' both say how slow a step is"));
}

TEST(GoodputFiles, RecordedFaultsBehindTheEndAreNamed) {
  EXPECT_THAT(remarks(kJob + kSaves + "components: {log: {per: job, times: [3 h, 20 d, 30 d]}}\n"),
              HasSubstr("warning[W131]: 2 of the 3 recorded faults of components.log have no effect"));
  EXPECT_THAT(remarks(kJob + kSaves + "components: {log: {per: job, times: []}}\n"),
              HasSubstr("error[E402]: components.log.times has no time"));
}

TEST(GoodputFiles, RepairOfAClassNeedsHostsThatReturn) {
  const std::string part = "components: {gpu: {mtbf: 1000 h, repair: 1 h}}\n";
  EXPECT_THAT(remarks(kJob + kSaves + part), HasSubstr("warning[W131]: components.gpu.repair has no effect"));
  EXPECT_EQ(remarks(kJob + kSaves + part + "spares: {standby: 1}\n"), "");
}

TEST(GoodputFiles, DetectionOfNoComponentIsNamed) {
  const std::string crash = kJob + kSaves + "components: {gpu: {mtbf: 1000 h}}\n";
  EXPECT_EQ(remarks(crash + "detection: {crash: 10 s}\n"), "");
  EXPECT_THAT(remarks(crash + "detection: {crash: 10 s, hang: 900 s}\n"),
              HasSubstr("warning[W131]: detection.hang has no effect: no component of kind hang is detected after that "
                        "time"));
  const std::string slow = kJob + kSaves + "detection: {slow: 1 h}\ncomponents: {one: {kind: slow, mtbf: 99 h, "
                                           "slowdown: 2";
  EXPECT_EQ(remarks(slow + "}}\n"), "");
  EXPECT_THAT(remarks(slow + ", evicts: false}}\n"), HasSubstr("warning[W131]: detection.slow has no effect"));
  EXPECT_THAT(remarks(slow + ", detect: 1 s}}\n"), HasSubstr("warning[W131]: detection.slow has no effect"));
}

TEST(GoodputFiles, WhichHostIsBlamedMattersForSlowHostsAndSpares) {
  const std::string job = kJob + kSaves + "diagnosis: {finds: 90%}\ncomponents: {gpu: {mtbf: 1000 h";
  EXPECT_THAT(remarks(job + "}}\n"), HasSubstr("warning[W131]: diagnosis.finds has no effect: with unlimited hosts"));
  EXPECT_EQ(remarks(job + "}}\nspares: {standby: 2}\n"), "");
  EXPECT_EQ(remarks(job + ", kind: slow, slowdown: 2}}\n"), "");
}

TEST(GoodputFiles, SettingsOfPoliciesThatAreNotSimulatedAreNamed) {
  const std::string spare = kJob + kSaves + "components: {gpu: {mtbf: 1000 h}}\nspares: {standby: 2}\nrecovery: "
                                            "{hot_spare: {stall: 7 s}";
  EXPECT_THAT(remarks(spare + "}\n"), HasSubstr("warning[W131]: recovery.hot_spare has no effect"));
  EXPECT_THAT(remarks(spare + ", compare: [hot_spare]}\n"), Not(HasSubstr("W131")));
}

// The names are of a shipped file, whose other times stay for components that a user adds.
TEST(GoodputFiles, DetectionOfAPresetIsNotNamed) {
  EXPECT_THAT(remarks("preset: llama3-h100\nrepetitions: 1\nduration: 1 d\n"), Not(HasSubstr("W131")));
}

TEST(GoodputFiles, RatesOfTimesThatAreGivenAreNamed) {
  const auto tier = [](const std::string& keys) {
    return remarks(kJob + "checkpoint: {state: 1TB, tiers: {save: {every: 100 steps, " + keys + "}}}\n");
  };
  const std::string given = "checkpoint.tiers.save.";
  EXPECT_THAT(tier("total: 1TB/s, stall: 1 s, load: 1 s"),
              HasSubstr(given + "total has no effect: 'stall' says how long that takes"));
  EXPECT_THAT(tier("per_host: 1GB/s, stall: 1 s, write: 5 s, load: 1 s"),
              HasSubstr(given + "per_host has no effect: 'write' says how long that takes"));
  EXPECT_THAT(tier("mode: two_phase, snapshot: 1GB/s, stall: 1 s, write: 5 s, load: 1 s"),
              HasSubstr(given + "snapshot has no effect: 'stall' says how long that takes"));
  EXPECT_THAT(tier("total: 1TB/s, read_total: 1TB/s, load: 1 s"),
              HasSubstr(given + "read_total has no effect: 'load' says how long that takes"));
  EXPECT_THAT(tier("place: peers, nic: 50GB/s, idle: 1s, stall: 1 s"), HasSubstr(given + "idle has no effect"));
  EXPECT_THAT(tier("place: peers, nic: 50GB/s, stall: 1 s, load: 1 s"), HasSubstr(given + "nic has no effect"));
  EXPECT_EQ(tier("place: peers, nic: 50GB/s, stall: 1 s"), "");
  EXPECT_EQ(tier("mode: two_phase, total: 1TB/s, stall: 1 s, load: 1 s"), "");
}

// 8 hosts: nine copies, or two that are five hosts apart, are not all on different ones.
TEST(GoodputFiles, CopiesAreOnDifferentHostsOfTheJob) {
  const auto tier = [](const std::string& keys) {
    return remarks(kJob + "checkpoint: {state: 1TB, tiers: {save: {every: 100 steps, place: peers, nic: 50GB/s, " +
                   keys + "}}}\n");
  };
  EXPECT_THAT(tier("copies: 9"), HasSubstr("error[E405]: groups of 9 hosts, 1 apart, need 9, and the job has 8"));
  EXPECT_THAT(tier("jump: 5"), HasSubstr("error[E405]: groups of 2 hosts, 5 apart, need 10, and the job has 8"));
  EXPECT_THAT(tier("placement: ring, copies: 3, jump: 4"), HasSubstr("error[E405]: groups of 3 hosts, 4 apart"));
  EXPECT_EQ(tier("copies: 2, jump: 4"), "");
  EXPECT_EQ(tier("copies: 8"), "");
}

// A part that stays is not looked for.
TEST(GoodputFiles, KeysOfEvictionNeedOne) {
  const std::string part = "components: {nic: {mtbf: 1000 h, kind: slow, slowdown: 1.1, detect: 1 min, lasts: 1 h";
  EXPECT_THAT(remarks(kJob + kSaves + part + ", evicts: false}}\n"),
              HasSubstr("warning[W131]: components.nic.detect has no effect: its host is not replaced"));
  EXPECT_EQ(remarks(kJob + kSaves + part + "}}\n"), "");
}

// `mode: blocking`, the default, stands still until all is written.
TEST(GoodputFiles, ACheckpointWithoutAStallIsNamed) {
  const auto tier = [](const std::string& keys) {
    return remarks(kJob + "checkpoint: {state: 64GB, tiers: {one: {every: 10 min, load: 10 s, " + keys + "}}}\n");
  };
  EXPECT_THAT(tier("write: 60 s"), HasSubstr("warning[W410]: checkpoint 'one' stalls training for no time"));
  EXPECT_THAT(tier("mode: two_phase, total: 1GB/s"), HasSubstr("W410"));
  EXPECT_THAT(tier("place: peers"), HasSubstr("W410"));
  for (const char* const given : {"stall: 0 s", "total: 1GB/s", "mode: two_phase, snapshot: 1GB/s, hidden: 9s",
                                  "place: peers, nic: 1GB/s, idle: 9s"}) {
    EXPECT_EQ(tier(given), "") << given;
  }
}

TEST(GoodputFiles, NoPolicyWaitsForMoreThanTheJobHas) {
  const auto with = [](const std::string& recovery) {
    return remarks(kJob + kSaves + "components: {gpu: {mtbf: 1000 h}}\nrecovery: {" + recovery + "}\n");
  };
  for (const char* const policy : {"shrink", "replica_drop", "shrink_collective", "commit"}) {
    const std::string name = policy;
    EXPECT_THAT(with("policy: " + name + ", " + name + ": {least_replicas: 5}"),
                HasSubstr("error[E403]: recovery." + name + ".least_replicas is 5, and the whole job has 4"));
    EXPECT_THAT(with("policy: " + name + ", " + name + ": {least_replicas: 4}"), Not(HasSubstr("error[")));
  }
  for (const char* const policy : {"reshard", "shards", "templates"}) {
    const std::string name = policy;
    EXPECT_THAT(with("policy: " + name + ", " + name + ": {least_hosts: 9}"),
                HasSubstr("error[E403]: recovery." + name + ".least_hosts is 9, and the whole job has 8"));
  }
  EXPECT_THAT(with("policy: templates, templates: {f: 4}"),
              HasSubstr("error[E403]: the loss of 4 hosts at once needs 5 pipelines of 2 hosts, and the job has 8"));
  EXPECT_THAT(with("policy: templates, templates: {least_hosts: 3, most_hosts: 3}"),
              HasSubstr("error[E403]: no pipelines of 3 to 3 hosts make up the 8 hosts of the job"));
  EXPECT_EQ(with("policy: templates, templates: {f: 3}"), "");
}

// Two copies of the state, each over 32 of the 64 ranks: a GPU alone is no replica. A restart may leave one out.
TEST(GoodputReplicas, OfShardedStateAreItsCopies) {
  const GoodputResult result = result_of(
      "scenario: llama3-70b-hsdp-64-h100\nduration: 1 d\nrepetitions: 1\ncomponents: {gpu: {mtbf: 1e4 h}}\n" + kSaves);
  EXPECT_EQ(result.operation.job.replicas, 2);
  EXPECT_EQ(result.operation.job.gpus_per_replica(), 32);
  EXPECT_EQ(result.operation.job.units(), 64);
  EXPECT_EQ(result.operation.job.replicas_on(7), 56);
}

// With a distributed optimizer the state of a lost rank is on no other one.
TEST(GoodputReplicas, OfADistributedOptimizerAreOne) {
  const std::string text =
      "scenario: gpt2-1.5b-dgx-a100\nduration: 1 d\nrepetitions: 1\ncomponents: {gpu: {mtbf: 1e4 h}}\n" + kSaves;
  EXPECT_EQ(result_of(text + "set: {parallel.zero.stage: 0}\n").operation.job.replicas, 8);
  const std::string sharded = text + "set: {parallel.zero.stage: 1}\n";
  EXPECT_EQ(result_of(sharded).operation.job.replicas, 1);
  EXPECT_THAT(remarks(sharded + "recovery: {policy: replica_drop}\n"), HasSubstr("error[E403]"));
  EXPECT_THAT(remarks(sharded + "recovery: {policy: shrink}\n"), Not(HasSubstr("error[")));
}

TEST(GoodputFiles, AScenarioThatIsMissingHasItsPlace) {
  EXPECT_THAT(
      remarks("scenario: no-such-job\nduration: 1 d\n"),
      AllOf(HasSubstr("goodput.yaml:1:11: error[E100]"), HasSubstr("no file and no shipped scenario 'no-such-job'")));
}

// One life says nothing of others.
TEST(GoodputText, OneLifeHasNoInterval) {
  const std::string one = render_goodput_text(result_of(
      "duration: 1 d\nrepetitions: 1\njob: {gpus: 8, step_time: 1 s}\ncomponents: {gpu: {mtbf: 100 h}}\n" + kSaves));
  EXPECT_THAT(one, Not(HasSubstr("+-")));
  EXPECT_THAT(one, HasSubstr("1 repetition, seed"));
  EXPECT_THAT(one, HasSubstr("8 GPUs on 1 host, 1 replica, step 1 s"));
}

TEST(GoodputText, OneFaultIsOne) {
  const std::string fault = "components: {log: {per: job, times: [3 h]}}\n";
  EXPECT_THAT(render_goodput_text(result_of(kJob + kSaves + fault)), HasSubstr("  1 fault per repetition, one every"));
}

// Ages and recorded faults are those of parts, whatever the host.
TEST(Lemons, AreForConstantRates) {
  const std::string lemons = kJob + kSaves + "spares: {standby: 4}\nlemons: {share: 50%, factor: 11}\n";
  const std::string idle = "warning[W131]: lemons has no effect: no component of GPUs or hosts has a constant rate";
  const std::string aged = "components: {disk: {per: host, lifetime: {distribution: weibull, mean: 80 h, shape: 2}}}\n";
  EXPECT_THAT(remarks(lemons + aged), HasSubstr(idle));
  EXPECT_THAT(remarks(lemons + "components: {log: {per: job, times: [3 h]}}\n"), HasSubstr(idle));
  EXPECT_THAT(remarks(lemons + "components: {gpu: {mtbf: 1000 h}}\n"), Not(HasSubstr("lemons")));
  // 8 hosts, each once in 80 h; six times as often where half of the hosts are lemons.
  EXPECT_NEAR(result_of(lemons + aged).operation.faults_per_hour(), 0.1, 1e-9);
  EXPECT_NEAR(result_of(lemons + "components: {host: {per: host, mtbf: 80 h}}\n").operation.faults_per_hour(), 0.6,
              1e-9);
}

}  // namespace
}  // namespace ringwright::planning::contradictions_test
