// Jobs on the same GPUs, by each rule of sharing: acceptance checks of J3 to J6 (docs/systems.md).
#include <array>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "planning/sharing/sharing.h"
#include "tests/configs/played.h"

namespace ringwright::planning::gpu_sharing_test {
namespace {

using testing::HasSubstr;

// Layers large enough for waves of tiles not to matter, on one host of H100.
constexpr std::string_view kLayers =
    "model: {num_layers: 4, hidden_size: 4096, num_attention_heads: 32, num_query_groups: 8, ffn_hidden_size: 14336,"
    " vocab_size: 32000, seq_length: 2048}\n"
    "training: {global_batch: 8}\nparallel: {tp: 1, dp: auto}\ncompute: {model: roofline}\n"
    "interference: {model: share}\n"
    "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";

std::string scenario(std::string_view kind, std::string_view jobs) {
  return std::string(kLayers) + fmt::format("gpu_sharing: {{kind: {}}}\njobs: [{}]\n", kind, jobs);
}

SharingResult shared_by(const std::string& text, configs::FoldMode fold = configs::FoldMode::kFold) {
  const auto shared = configs::load_shared_text("shared.yaml", text);
  if (!shared) throw std::runtime_error(render(shared.error()));
  SharingResult result = share_machine(*shared, {.fold = fold});
  if (!result.arrangements[0].was_simulated()) throw std::runtime_error(result.arrangements[0].reason);
  return result;
}

double slowdown(const SharingResult& result, std::size_t job) { return result.arrangements[0].jobs[job].slowdown(); }

std::string mistakes_of(const std::string& text) {
  const auto shared = configs::load_shared_text("shared.yaml", text);
  return shared ? std::string() : render(shared.error());
}

TEST(GpuSharing, TimeSlicesOfTwoEqualJobsTakeTwiceTheTime) {
  const SharingResult result =
      shared_by(scenario("time_slicing", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}"));
  EXPECT_NEAR(slowdown(result, 0), 2.0, 1e-6);
  EXPECT_NEAR(slowdown(result, 1), 2.0, 1e-6);
}

TEST(GpuSharing, ThreeJobsTakeThreeTimesAsLong) {
  const SharingResult result = shared_by(scenario(
      "time_slicing", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}, {name: c, gpus: 1, gpus_of: b}"));
  for (const std::size_t job : {0U, 1U, 2U}) EXPECT_NEAR(slowdown(result, job), 3.0, 1e-6);
}

TEST(GpuSharing, JobsOnTheirOwnGpusDoNotSlowEachOther) {
  const SharingResult result = shared_by(scenario("time_slicing", "{name: a, gpus: 1}, {name: b, gpus: 1}"));
  EXPECT_EQ(slowdown(result, 0), 1.0);
  EXPECT_EQ(slowdown(result, 1), 1.0);
}

// J5: caps scale arithmetic as 1 / share; its memory-bound kernels lose less, since half of the multiprocessors draw
// all of the memory.
TEST(GpuSharing, ThreadPercentagesOfMpsScaleTheTimeOfGemms) {
  const SharingResult half =
      shared_by(scenario("mps", "{name: a, gpus: 1, thread_percentage: 50}, {name: b, gpus: 1}"));
  EXPECT_GT(slowdown(half, 0), 1.6);
  EXPECT_LT(slowdown(half, 0), 2.05);
  EXPECT_EQ(slowdown(half, 1), 1.0);
  const SharingResult quarter =
      shared_by(scenario("mps", "{name: a, gpus: 1, thread_percentage: 25}, {name: b, gpus: 1}"));
  EXPECT_GT(slowdown(quarter, 0), 3.4);
  EXPECT_LT(slowdown(quarter, 0), 4.2);
}

// Without caps two jobs with equal demand get half of the multiprocessors each.
TEST(GpuSharing, MpsWithoutCapsIsEvenlyShared) {
  const SharingResult result = shared_by(scenario("mps", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}"));
  EXPECT_NEAR(slowdown(result, 0), slowdown(result, 1), 1e-6);
  EXPECT_GT(slowdown(result, 0), 1.6);
  EXPECT_LT(slowdown(result, 0), 2.1);
}

TEST(GpuSharing, TheJobWithTheLargerThreadPercentageIsFaster) {
  const SharingResult result = shared_by(scenario(
      "mps", "{name: a, gpus: 1, thread_percentage: 75}, {name: b, gpus: 1, gpus_of: a, thread_percentage: 25}"));
  EXPECT_LT(slowdown(result, 0), 1.5);
  EXPECT_GT(slowdown(result, 1), 3.0);
}

// J6: an instance does not see what the others do, to the picosecond.
TEST(GpuSharing, InstancesOfMigAreIsolated) {
  const SharingResult pair = shared_by(scenario(
      "mig", "{name: a, gpus: 1, mig_profile: 3g.40gb}, {name: b, gpus: 1, gpus_of: a, mig_profile: 4g.40gb}"));
  const SharingResult one = shared_by(scenario("mig", "{name: a, gpus: 1, mig_profile: 3g.40gb}, {name: b, gpus: 1, "
                                                      "mig_profile: 7g.80gb}"));
  const Duration with_other = pair.arrangements[0].jobs[0].together.step.mean;
  EXPECT_EQ(with_other, one.arrangements[0].jobs[0].together.step.mean);
  // 60 of 132 multiprocessors and half of the memory.
  EXPECT_GT(slowdown(pair, 0), 1.8);
  EXPECT_LT(slowdown(pair, 0), 132.0 / 60.0 + 0.1);
  EXPECT_LT(slowdown(pair, 1), slowdown(pair, 0));
  EXPECT_NEAR(slowdown(one, 1), 1.0, 1e-9);
}

// Limits belong to a job, whether or not another one is on the machine.
TEST(GpuSharing, LimitsHoldWithoutAnotherJob) {
  const auto same = [](std::string_view kind, std::string_view limited, std::string_view other) {
    const SharingResult alone = shared_by(scenario(kind, limited));
    const SharingResult two = shared_by(scenario(kind, fmt::format("{}, {}", limited, other)));
    EXPECT_GT(slowdown(alone, 0), 1.5) << kind;
    EXPECT_NEAR(slowdown(alone, 0), slowdown(two, 0), 1e-9) << kind;
  };
  same("mps", "{name: a, gpus: 1, thread_percentage: 50}", "{name: b, gpus: 1}");
  same("mig", "{name: a, gpus: 1, mig_profile: 3g.40gb}", "{name: b, gpus: 1, mig_profile: 7g.80gb}");
}

// J6: no peer-to-peer path: two instances of one host exchange through host memory, over PCIe.
TEST(GpuSharing, InstancesOfMigHaveNoNvlink) {
  const SharingResult whole = shared_by(scenario("mig", "{name: a, gpus: 2, mig_profile: 7g.80gb}, {name: b, gpus: 2, "
                                                        "mig_profile: 7g.80gb}"));
  const SharedJob& job = whole.arrangements[0].jobs[0];
  EXPECT_EQ(job.together.time.computing, job.alone.time.computing);
  EXPECT_GT(job.slowdown(), 1.5);
}

TEST(GpuSharing, SlicesOfMigAddUp) {
  EXPECT_THAT(mistakes_of(scenario("mig", "{name: a, gpus: 1, mig_profile: 4g.40gb}, {name: b, gpus: 1, gpus_of: a, "
                                          "mig_profile: 4g.40gb}")),
              HasSubstr("8 of 7 compute slices"));
  EXPECT_THAT(mistakes_of(scenario("mig", "{name: a, gpus: 1, mig_profile: 5g.40gb}, {name: b, gpus: 1, mig_profile: "
                                          "4g.40gb}")),
              HasSubstr("1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb"));
}

// J3, J4: the job with a guarantee computes half of its time: the other half is a wait for its pipeline.
constexpr std::string_view kGuaranteed = "{name: a, gpus: 2, parallel: {pp: 2}, training: {global_batch: 2}}";

TEST(GpuSharing, AntManLeavesTheGuaranteedJobItsSpeed) {
  const SharingResult result =
      shared_by(scenario("antman", std::string(kGuaranteed) + ", {name: b, gpus: 1, gpus_of: a, opportunistic: true}"));
  EXPECT_NEAR(slowdown(result, 0), 1.0, 0.005);
  EXPECT_GT(slowdown(result, 1), 1.2);
}

TEST(GpuSharing, TgsLeavesTheProductionJobNearlyItsSpeed) {
  const std::string jobs =
      "{name: a, gpus: 1, training: {global_batch: 32}}, {name: b, gpus: 1, gpus_of: a, training: {global_batch: 1}";
  const SharingResult tgs = shared_by(scenario("tgs", jobs + ", opportunistic: true}"));
  const SharingResult sliced = shared_by(scenario("time_slicing", jobs + "}"));
  EXPECT_LT(slowdown(tgs, 0), 1.06);
  EXPECT_GT(slowdown(tgs, 0), 1.0);
  EXPECT_NEAR(slowdown(sliced, 0), 2.0, 0.05);
  EXPECT_GT(slowdown(tgs, 1), slowdown(sliced, 1));
}

TEST(GpuSharing, MemoryMustFitTogether) {
  const SharingResult result = shared_by(scenario(
      "time_slicing", "{name: a, gpus: 1, model: {num_layers: 12}}, {name: b, gpus: 1, gpus_of: a}, "
                      "{name: c, gpus: 1, gpus_of: a, model: {num_layers: 12}}"));
  ASSERT_FALSE(result.too_large.empty());
  EXPECT_THAT(result.too_large.back(), HasSubstr("a, b, c on one GPU"));
}

// Of an opportunistic job, what does not fit crosses PCIe twice a step.
TEST(GpuSharing, MemoryOfOpportunisticJobsSpillsToTheHost) {
  const SharingResult result = shared_by(scenario(
      "tgs", "{name: a, gpus: 1, model: {num_layers: 12}}, {name: b, gpus: 1, gpus_of: a, opportunistic: true, "
             "model: {num_layers: 12}, training: {global_batch: 1}}"));
  EXPECT_TRUE(result.too_large.empty());
  const SharedJob& job = result.arrangements[0].jobs[1];
  ASSERT_GT(job.in_host_memory, Bytes(0));
  EXPECT_EQ(result.arrangements[0].jobs[0].in_host_memory, Bytes(0));
  Duration host;
  for (const DimensionTime& dimension : job.together.time.dimensions) {
    if (dimension.name == "host") host = dimension.exposed;
  }
  // At no more than the 64 GB/s of PCIe 5.0 with 16 lanes.
  EXPECT_GT(to_seconds(host), 2.0 * static_cast<double>(job.in_host_memory.count()) / 64e9);
  EXPECT_THAT(render_sharing_text(result), HasSubstr("lie in host memory"));
}

TEST(GpuSharing, MistakesAreNamed) {
  EXPECT_THAT(mistakes_of(scenario("mps", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: x}")), HasSubstr("E487"));
  EXPECT_THAT(mistakes_of(scenario("mps", "{name: a, gpus: 1}, {name: b, gpus: 2, gpus_of: a}")),
              HasSubstr("job 'b' has 2 GPUs"));
  EXPECT_THAT(mistakes_of(scenario("antman", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}")),
              HasSubstr("opportunistic: true"));
  EXPECT_THAT(mistakes_of(scenario("antman",
                                   "{name: a, gpus: 1, opportunistic: true}, {name: b, gpus: 1, gpus_of: a, "
                                   "opportunistic: true}")),
              HasSubstr("leave 'opportunistic' out of one"));
  EXPECT_THAT(mistakes_of(scenario("tgs", "{name: a, gpus: 1, thread_percentage: 20}, {name: b, gpus: 1}")),
              HasSubstr("needs 'gpu_sharing.kind: mps'"));
  std::string off = scenario("mps", "{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}");
  off.replace(off.find("model: share"), 12, "model: none");
  EXPECT_THAT(mistakes_of(off), HasSubstr("interference: {model: share}"));
}

TEST(GpuSharing, AMechanismThatNobodyUsesIsNamed) {
  const auto warnings = [](const std::string& jobs) {
    const auto shared = configs::load_shared_text("sharing.yaml", scenario("mps", jobs));
    return shared ? render(warnings_of(*shared)) : render(shared.error());
  };
  const std::string idle = "gpu_sharing has no effect: no job is on the GPUs of another one";
  EXPECT_THAT(warnings("{name: a, gpus: 1}, {name: b, gpus: 1}"), HasSubstr(idle));
  EXPECT_THAT(warnings("{name: a, gpus: 1, thread_percentage: 50}"), testing::Not(HasSubstr(idle)));
  EXPECT_THAT(warnings("{name: a, gpus: 1}, {name: b, gpus: 1, gpus_of: a}"), testing::Not(HasSubstr(idle)));
}

// An opportunistic job has little to do, and AntMan's guaranteed one has gaps: its pipeline's.
std::string random_jobs(RandomStream& random) {
  constexpr std::array kKinds{"time_slicing", "mps", "mig", "antman", "tgs"};
  constexpr std::array kLayouts{"tp: 2, dp: auto", "dp: auto, zero: {stage: 1}", "pp: 2, dp: auto", "tp: 4, dp: auto"};
  const std::size_t kind = random.next_below(kKinds.size());
  constexpr std::array kOfA{"", ", thread_percentage: 60", ", mig_profile: 4g.40gb", "", ""};
  constexpr std::array kOfB{"", ", thread_percentage: 70", ", mig_profile: 3g.40gb",
                            ", opportunistic: true, training: {global_batch: 8}",
                            ", opportunistic: true, training: {global_batch: 8}"};
  const char* const of_a = kLayouts[random.next_below(kLayouts.size())];
  return std::string(configs::kTinyModel) +
         fmt::format(
             "training: {{global_batch: 64}}\ninterference: {{model: share}}\nsimulate: {{steps: 2, seed: {}}}\n"
             "cluster: {{nodes: 2, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, leaf: {{ports: 16}}}}"
             "}}\ngpu_sharing: {{kind: {}}}\njobs:\n  - {{name: a, gpus: {}, parallel: {{{}}}{}}}\n"
             "  - {{name: b, gpus: 8, gpus_of: a, start: {}us, parallel: {{{}}}{}}}\n",
             random.next_below(100), kKinds[kind], random.next_below(2) == 0 ? 16 : 8, kind == 3 ? kLayouts[2] : of_a,
             kOfA[kind], random.next_below(300), kLayouts[random.next_below(2)], kOfB[kind]);
}

TEST(GpuSharing, FoldedIsTheWhole) {
  RandomStream random(22, "jobs on the same GPUs");
  for (int trial = 0; trial < 10; ++trial) {
    const std::string text = random_jobs(random);
    SCOPED_TRACE(text);
    const Arrangement folded = shared_by(text).arrangements[0];
    const Arrangement whole = shared_by(text, configs::FoldMode::kNoFold).arrangements[0];
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(folded.jobs[j].together.step.mean, whole.jobs[j].together.step.mean);
      EXPECT_EQ(folded.jobs[j].together.step.maximum, whole.jobs[j].together.step.maximum);
      EXPECT_EQ(folded.jobs[j].together.time.computing, whole.jobs[j].together.time.computing);
      EXPECT_EQ(folded.jobs[j].alone.step.mean, whole.jobs[j].alone.step.mean);
    }
  }
}

}  // namespace
}  // namespace ringwright::planning::gpu_sharing_test
