#include "planning/operation/goodput.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "planning/operation/interval.h"
#include "planning/operation/policies/builtin_policies.h"
#include "tests/paths.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::goodput_test {
namespace {

GoodputResult result_of(const std::string& text, const GoodputOptions& options = {}) {
  auto result = goodput_text("job.yaml", text, options);
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

std::string mistakes(const std::string& text, const std::vector<std::string>& settings = {}) {
  const auto result = goodput_text("job.yaml", text, {.settings = settings});
  return result ? "" : render(result.error());
}

// The classic model: failures without memory, one checkpoint, one recovery time.
const std::string kClassic =
    "duration: 100 d\nrepetitions: 60\njob: {gpus: 16384, step_time: 1 s}\n"
    "components: {all: {per: job, hosts: 0, mtbf: 11124 s, detect: 0 s}}\n"
    "restart: {schedule: 600 s, container: 0 s, init: {base: 0 s, per_rank: 0 s}}\n";

// Within the 99.9 % confidence interval of the mean of 60 lives; steps of 1 s and unsaved work at the end of a life
// bias it by less than 1e-4.
TEST(Goodput, SimulatedMeanAgreesWithTheExactEfficiency) {
  for (const char* const stall : {"60 s", "300 s"}) {
    const std::string tier =
        std::string("checkpoint: {tiers: {store: {every: daly, load: 0 s, stall: ") + stall + "}}}\n";
    const GoodputResult result = result_of(kClassic + tier, {.intervals = true});
    for (const IntervalOutcome& one : result.intervals) {
      if (one.closed_form < 0.5) continue;
      EXPECT_NEAR(one.ettr.mean, one.closed_form, 3.3 * one.ettr.error + 1e-4) << stall << " " << one.seconds;
    }
    EXPECT_LT(result.outcome.ettr.error, 0.001);
  }
}

// Ten days of healthy training with four faults: one in 60 h. A fault that comes after them is none of theirs.
TEST(Goodput, IntervalsFollowRecordedFaultsWithinTheLengthOfTheJob) {
  const std::string job = "repetitions: 1\njob: {gpus: 64, step_time: 1 s}\n"
                          "checkpoint: {tiers: {store: {every: daly, load: 0 s, stall: 60 s}}}\n";
  const double expected =
      std::round(daly_interval({.stall = 60.0, .between_failures = 60.0 * 3600.0, .recovery = 0.0}));
  for (const std::string length : {"work: 10 d\n", "duration: 10 d\n"}) {
    const GoodputResult result =
        result_of(job + length + "components: {log: {per: job, times: [1 h, 50 h, 90 h, 200 h, 11 d]}}\n");
    EXPECT_EQ(result.operation.tiers[0].every, expected) << length;
    EXPECT_NEAR(result.operation.faults_per_hour(), 4.0 / 240.0, 1e-9) << length;
  }
}

// Slow links that nobody evicts, or that end before they are found, and wrong numbers that nobody sees lose no work.
TEST(Goodput, IntervalsFollowFaultsThatAreRecoveredFrom) {
  const std::string tier = "checkpoint: {tiers: {store: {every: daly, load: 0 s, stall: 60 s}}}\n";
  const double alone = result_of(kClassic + tier).operation.tiers[0].every;
  // Known before anything is simulated: a few days of one life are enough.
  const auto with = [&](const std::string& other) {
    return result_of(kClassic + tier, {.settings = {"components.other={per: job, mtbf: 1000 s, " + other + "}",
                                                    "duration=2 d", "repetitions=1"}})
        .operation.tiers[0].every;
  };
  EXPECT_EQ(with("kind: slow, slowdown: 1.01, evicts: false"), alone);
  EXPECT_EQ(with("kind: slow, slowdown: 1.01, lasts: 10 s, detect: 20 s"), alone);
  EXPECT_EQ(with("kind: corruption, found: 0%"), alone);
  EXPECT_LT(with("kind: slow, slowdown: 1.01"), alone / 2.0);
  EXPECT_LT(with("kind: crash"), alone / 2.0);
}

TEST(Goodput, SearchedIntervalIsAsGoodAsAnyThatWasTried) {
  const GoodputResult result =
      result_of(kClassic + "checkpoint: {tiers: {store: {every: best, load: 0 s, stall: 60 s}}}\n");
  for (const IntervalOutcome& one : result.intervals) EXPECT_LE(one.ettr.mean, result.outcome.ettr.mean + 1e-12);
}

// M/M/c without queue limit: one part with repair rate 1/10 h and no standby host is down for 10 h in 110 h.
TEST(Goodput, AWaitForRepairHasTheShareOfTheBirthDeathProcess) {
  const GoodputResult result = result_of(
      "duration: 2000 d\nrepetitions: 20\njob: {gpus: 8, step_time: 1 s}\nspares: {standby: 0}\n"
      "components: {host: {per: host, mtbf: 100 h, detect: 0 s}}\n"
      "repair: {time: {distribution: exponential, mean: 10 h}}\n"
      "restart: {schedule: 0 s, container: 0 s, init: {base: 0 s, per_rank: 0 s}}\n"
      "checkpoint: {tiers: {store: {every: 1 steps, stall: 0 s, load: 0 s}}}\n");
  const double waiting = result.outcome.seconds[static_cast<std::size_t>(Account::kWaiting)] / 3600.0;
  EXPECT_NEAR(waiting / result.outcome.wall_hours.mean, 10.0 / 110.0, 0.004);
  EXPECT_DOUBLE_EQ(result.outcome.out_of_spares, 1.0);
}

// Exponential parts: 16,384 GPUs with 1 fault in 1e6 hours, 1000 h: 16.4 faults, as a Poisson process.
TEST(Goodput, FaultsOfAClassArePoisson) {
  const GoodputResult result = result_of(
      "duration: 1000 h\nrepetitions: 400\njob: {gpus: 16384, step_time: 10 s}\n"
      "components: {gpu: {per_million_hours: 1}}\n"
      "checkpoint: {tiers: {store: {every: 1 steps, stall: 0 s, load: 0 s}}}\n");
  EXPECT_NEAR(result.outcome.faults.mean, 16.384, 3.3 * std::sqrt(16.384 / 400.0));
}

// Weibull with a falling hazard: young parts fail more often than the same parts later.
TEST(Goodput, AgesAreThoseOfParts) {
  const std::string job =
      "repetitions: 50\njob: {gpus: 800, step_time: 10 s}\ncomponents: {gpu: {lifetime:"
      " {distribution: weibull, mean: 5000 h, shape: 0.6}}}\n";
  const double first = result_of(job + "duration: 100 h\n").outcome.faults.mean;
  const double tenfold = result_of(job + "duration: 1000 h\n").outcome.faults.mean;
  EXPECT_LT(tenfold, 7.0 * first);
  EXPECT_GT(tenfold, 2.0 * first);
}

const std::string kPolicies =
    "duration: 60 d\nrepetitions: 8\njob: {gpus: 1024, replicas: 16, step_time: 5 s, tokens_per_step: 1000000}\n"
    "components: {gpu: {mtbf: 20000 h}}\ncheckpoint: {tiers: {store: {every: 30 min, stall: 10 s, load: 60 s}}}\n"
    "recovery: {compare: [all]}\ncost: {usd_per_gpu_hour: 2}\n";

TEST(Goodput, ThreadsDoNotChangeAResult) {
  const std::string one = render_goodput_json(result_of(kPolicies, {.workers = {.threads = 1}}));
  const std::string two = render_goodput_json(result_of(kPolicies, {.workers = {.threads = 2}}));
  EXPECT_EQ(one, two);
}

// Unlimited hosts: the calendar of faults does not depend on the policy (common random numbers).
TEST(Goodput, PoliciesMeetTheSameFaults) {
  const GoodputResult result = result_of(kPolicies);
  ASSERT_EQ(result.others.size() + 1, recovery_policies().size());
  for (const PolicyOutcome& other : result.others) {
    EXPECT_EQ(other.refusal, "");
    EXPECT_DOUBLE_EQ(other.faults.mean, result.outcome.faults.mean) << other.policy;
  }
  const auto drop = std::ranges::find(result.others, "replica_drop", &PolicyOutcome::policy);
  EXPECT_GT(drop->ettr.mean, result.outcome.ettr.mean);
}

TEST(Goodput, TextAndJsonNameEveryPolicy) {
  const GoodputResult result = result_of(kPolicies);
  for (const std::string& text : {render_goodput_text(result), render_goodput_json(result)}) {
    for (const char* const name : {"restart", "hot_spare", "shrink", "replica_drop", "templates", "logging"}) {
      EXPECT_NE(text.find(name), std::string::npos) << name;
    }
  }
}

TEST(Goodput, ReportsAllMistakesOfAFileAtOnce) {
  const std::string text = mistakes(
      "duration: 54\njob: {gpus: 16, step_time: 1 s}\ncomponents: {gpu: {mtbf: 1 h, count: 3}}\n"
      "spares: {pool: 3}\nrecovery: {compare: [hope]}\ncheckpoint: {tiers: {a: {every: often}}}\nnonsense: 1\n");
  for (const char* const code : {"E401", "E402", "E403", "E405", "E406"}) {
    EXPECT_NE(text.find(code), std::string::npos) << code << "\n" << text;
  }
  EXPECT_NE(text.find("nonsense"), std::string::npos);
}

TEST(Goodput, RulesOfHostsThatNeverApplyAreMistakes) {
  const std::string job = "duration: 1 d\njob: {gpus: 16, step_time: 1 s}\ncomponents: {gpu: {mtbf: 100 h}}\n";
  for (const char* const rest : {"diagnosis: {finds: 90%, swaps_missed: true}\n",
                                 "diagnosis: {swaps_missed: true}\nspares: {standby: 1}\n",
                                 "spares: {standby: 1, fills_standby: true}\n", "spares: {fills_standby: true}\n"}) {
    EXPECT_NE(mistakes(job + rest).find("E406"), std::string::npos) << rest;
  }
  EXPECT_EQ(mistakes(job + "diagnosis: {finds: 90%, swaps_missed: true}\n"
                           "spares: {standby: 1, others: 1, fills_standby: true}\n"), "");
}

std::string warnings(const std::string& text) {
  return render(result_of(text).warnings);
}

TEST(Goodput, SaysWhatHasNoEffect) {
  const std::string job = "duration: 1 d\njob: {gpus: 16, replicas: 2, step_time: 1 s}\n";
  EXPECT_EQ(warnings(job), "0 errors, 0 warnings\n");
  EXPECT_NE(warnings(job + "repair: {time: 1 d}\n").find("repair has no effect"), std::string::npos);
  EXPECT_EQ(warnings(job + "repair: {time: 1 d}\nspares: {standby: 1}\n"), "0 errors, 0 warnings\n");
  EXPECT_NE(mistakes("duration: 1 d\njob: {gpus: 16, replicas: 17, step_time: 1 s}\n").find("17 replicas"),
            std::string::npos);
  // One mistake, one message.
  EXPECT_EQ(mistakes("duration: 1 d\nwork: 1 d\njob: {gpus: 16, step_time: 1 s}\n").find("unknown key"),
            std::string::npos);
}

// 8 hosts hold 1.6 TB, 25 GB of each GPU. Three parts of a stripe of four are data: a GPU sends 25 GB at 25 GB/s and
// encodes as many at 5 GB/s, a host holds 8 x 25 x 4 / 3 GB, and a lost GPU reads three times its 33.3 GB.
TEST(Goodput, TimesOfParityFollowFromTheStripes) {
  const std::string job =
      "duration: 1 d\njob: {gpus: 64, step_time: 10 s}\n"
      "checkpoint: {state: 1600GB, tiers: {m: {place: peers, every: 10 steps, nic: 25GB/s, ";
  const CheckpointTier tier = result_of(job + "parity: 1, encode: 5GB/s}}}\n").operation.tiers[0];
  EXPECT_EQ(tier.stall, job_seconds(1.0));
  EXPECT_EQ(tier.write, job_seconds(5.0));
  EXPECT_NEAR(seconds_of(tier.load), 4.0, 1e-6);
  EXPECT_NEAR(static_cast<double>(tier.held->count()), 8 * 100e9 / 3, 10.0);
  EXPECT_EQ(result_of(job + "copies: 2}}}\n").operation.tiers[0].held, Bytes(400'000'000'000));
  EXPECT_NE(mistakes(job + "parity: 1, copies: 3}}}\n").find("both say how versions survive"), std::string::npos);
  EXPECT_NE(mistakes(job + "parity: 4, group: 4}}}\n").find("cannot have 4 parts"), std::string::npos);
  EXPECT_NE(mistakes(job + "parity: 1, group: 9}}}\n").find("need 9, and the job has 8"), std::string::npos);
}

TEST(Goodput, RefusesLivesWithTooManyFaults) {
  EXPECT_NE(
      mistakes("duration: 1000 d\njob: {gpus: 1000000, step_time: 1 s}\ncomponents: {gpu: {mtbf: 1 s}}\n").find("E404"),
      std::string::npos);
}

TEST(Goodput, ScenarioValuesNeedAScenario) {
  EXPECT_NE(mistakes("duration: 1 d\njob: {gpus: 8, step_time: 1 s}\n", {"parallel.tp=4"}).find("E407"),
            std::string::npos);
}

TEST(Goodput, APolicyForReplicasNeedsReplicas) {
  EXPECT_NE(mistakes("duration: 1 d\njob: {gpus: 8, step_time: 1 s}\nrecovery: {policy: replica_drop}\n").find("E403"),
            std::string::npos);
}

// Intervals shorter than the time to write: one version is written at a time.
TEST(Goodput, APolicyThatCopiesStateInNoTimeIsNamed) {
  const auto warned = [](const std::string& recovery) {
    const std::string warnings =
        render(result_of(kClassic + "recovery: " + recovery + "\n",
                         {.settings = {"job.replicas=128", "repetitions=1"}, .intervals = false, .compare = true})
                   .warnings);
    return std::pair(warnings.find("W408]: policy 'commit'") != std::string::npos,
                     warnings.find("W408]: policy 'reshard'") != std::string::npos);
  };
  EXPECT_EQ(warned("{compare: [all]}"), std::pair(true, true));
  EXPECT_EQ(warned("{policy: commit}"), std::pair(true, false));
  EXPECT_EQ(warned("{policy: commit, commit: {state: 100 GB, bandwidth: 25GB/s}}"), std::pair(false, false));
}

// Rates of writing say nothing of reading.
TEST(Goodput, ACheckpointThatLoadsInNoTimeIsNamed) {
  const auto warnings = [](const std::string& tier) {
    const std::string text = kClassic + "checkpoint: {state: 1TB, tiers: {store: {every: daly, " + tier + "}}}\n";
    return render(result_of(text).warnings);
  };
  EXPECT_NE(warnings("total: 100GB/s").find("W409"), std::string::npos);
  EXPECT_NE(warnings("place: peers, stall: 1 s").find("checkpoint 'store' loads in no time"), std::string::npos);
  EXPECT_EQ(warnings("total: 100GB/s, read_total: 100GB/s"), warnings("total: 100GB/s, load: 0 s"));
  EXPECT_EQ(warnings("place: host, stall: 1 s").find("W409"), std::string::npos);
}

TEST(Goodput, GpusAreAMultipleOfReplicas) {
  const std::string text = mistakes(kClassic, {"job.gpus=800", "job.replicas=30"});
  EXPECT_NE(text.find("error[E402]: 800 GPUs are not a multiple of 30 replicas"), std::string::npos) << text;
  EXPECT_NE(text.find("replicas of 26 GPUs take 780"), std::string::npos) << text;
}

TEST(Goodput, AJobOfNoTimeIsRefusedByItsLowerBound) {
  for (const char* const setting : {"duration=0 s", "duration=201000 d"}) {
    const std::string text = mistakes(kClassic, {setting});
    EXPECT_NE(text.find("longer than no time, and up to 200 years"), std::string::npos) << text;
  }
}

TEST(Goodput, AnIntervalIsAtLeastTheTimeToWrite) {
  const GoodputResult result = result_of(
      "duration: 1 d\njob: {gpus: 8, step_time: 10 s}\ncomponents: {gpu: {mtbf: 100 h}}\n"
      "checkpoint: {tiers: {store: {every: 30 s, mode: two_phase, stall: 1 s, write: 95 s, load: 0 s}}}\n");
  EXPECT_EQ(result.operation.tiers[0].every_steps, 10);
  ASSERT_EQ(result.warnings.all().size(), 1U);
  EXPECT_EQ(result.warnings.all().front().code, "W400");
}

TEST(Goodput, AnIntervalThatIsChangedByOneStepIsNamedToo) {
  const auto warnings = [](const std::string& write, const std::string& every) {
    return result_of("duration: 1 d\njob: {gpus: 8, step_time: 10 s}\ncomponents: {gpu: {mtbf: 100 h}}\n"
                     "checkpoint: {tiers: {store: {every: " +
                     every + ", mode: two_phase, stall: 1 s, write: " + write + ", load: 0 s}}}\n")
        .warnings.all()
        .size();
  };
  EXPECT_EQ(warnings("10 s", "1 steps"), 0U);
  EXPECT_EQ(warnings("15 s", "1 steps"), 1U);
  EXPECT_EQ(warnings("20 s", "1 steps"), 1U);
  EXPECT_EQ(warnings("24 s", "24 s"), 0U);  // rounded to 20 s, and then written in 30 s
  EXPECT_EQ(warnings("31 s", "24 s"), 1U);
}

// The step and a regime with a slow host are simulated; the job's size is the scenario's.
TEST(Goodput, SimulatesTheStepOfItsScenario) {
  const GoodputResult result = result_of(
      "scenario: gpt2-1.5b-dgx-a100\nduration: 1 d\nrepetitions: 2\n"
      "components: {slow: {per: host, mtbf: 10 h, kind: slow, set: {faults: [{node: 0, compute_scale: 0.5}]}}}\n"
      "checkpoint: {tiers: {store: {every: 10 min, total: 1GB/s, read_total: 1GB/s}}}\n",
      {.intervals = false});
  EXPECT_GT(result.operation.job.gpus, 0);
  EXPECT_GT(result.operation.job.step, JobTime());
  EXPECT_GT(result.operation.components[0].slowdown, 1.0);
  // 1.56e9 parameters of 14 bytes at 1 GB/s.
  EXPECT_NEAR(seconds_of(result.operation.tiers[0].stall), 1.56 * 14.0, 1.0);
}

TEST(Goodput, ReplicasOfARecordedJobAreItsOwn) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "goodput_test.json")
      << R"({"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "kernel",)"
         R"( "name": "ncclDevKernel_AllReduce", "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7,)"
         R"( "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 256, "Out msg nelems": 256,)"
         R"( "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}]})";
  std::ofstream(folder + "goodput_test.yaml") << "workload: {kineto: [goodput_test.json], replicas: 4}\n"
                                                 "cluster: {nodes: 1, node: {preset: dgx-h100}}\n";
  const GoodputResult result = result_of("scenario: " + folder + "goodput_test.yaml\nduration: 1 d\nrepetitions: 1\n" +
                                             "components: {gpu: {per: gpu, mtbf: 1e4 h}}\n"
                                             "recovery: {policy: replica_drop}\n",
                                         {.intervals = false});
  EXPECT_EQ(result.operation.job.gpus, 8);
  EXPECT_EQ(result.operation.job.replicas, 4);
}

// A preset's job holds where no scenario says it.
TEST(Goodput, AScenarioStandsAboveAPreset) {
  const GoodputResult result =
      result_of("preset: rsc-a100\nscenario: gpt2-1.5b-dgx-a100\nrepetitions: 1\n", {.intervals = false});
  EXPECT_LT(result.operation.job.gpus, 16384);
  EXPECT_TRUE(result.operation.job.is_simulated);
  EXPECT_NE(result.operation.job.step, job_seconds(10.0));
  EXPECT_NE(render_goodput_json(result).find("\"simulated\": true"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::planning::goodput_test
