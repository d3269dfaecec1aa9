// Collectives as kernels run them, on described machines: compared with published measurements, folded, in a training
// step.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::chunks_test {
namespace {

using namespace ringwright::literals;

constexpr std::string_view kA100 =
    "version: 1\n"
    "cluster: {nodes: 1, node: {preset: dgx-a100, nvlink: {efficiency: 80%}}}\n"
    "collectives: {model: chunks}\n"
    "comm: {plan: {algorithm: ring, protocol: simple, channels: 24}}\n";

constexpr std::string_view kH100 =
    "version: 1\n"
    "cluster: {nodes: 2, node: {preset: dgx-h100, nvlink: {efficiency: 80%}, nic: {efficiency: 95%}}}\n"
    "collectives: {model: chunks}\n"
    "comm: {plan: {algorithm: nvls_tree, protocol: simple, channels: 16}}\n";

Scenario machine(std::string_view text, std::vector<std::string> overrides = {}) {
  auto scenario = load_machine_text("machine.yaml", text, {.overrides = std::move(overrides), .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

CollectiveResult run(const Scenario& scenario, Bytes bytes) {
  CollectiveBench bench(scenario);
  auto result = bench.run({.operation = CollectiveOperation::kAllReduce, .bytes = bytes});
  if (!result) throw std::runtime_error(render(result.error()));
  return *result;
}

double microseconds(const CollectiveResult& result) { return to_seconds(result.time) * 1e6; }

// github.com/stas00/ml-engineering, A100 x 8: 8204 us at 1 GiB, 64,074 us at 8 GiB; 24 rings.
TEST(Chunks, LargeRingsOnA100AreNearTheMeasuredTimes) {
  const Scenario scenario = machine(kA100);
  EXPECT_NEAR(microseconds(run(scenario, 1_GiB)), 8204.0, 0.05 * 8204.0);
  EXPECT_NEAR(microseconds(run(scenario, 8_GiB)), 64'074.0, 0.05 * 64'074.0);
}

// github.com/NVIDIA/dgxc-benchmarking, H100 x 8 with NVLS: 4016 us at 1 GiB. Nebius, 2 x 8 with 8 x 400G: 4512 us, of
// which this machine without a profile takes 8 % less.
TEST(Chunks, LargeInSwitchReductionsOnH100AreNearTheMeasuredTimes) {
  EXPECT_NEAR(microseconds(run(machine(kH100, {"cluster.nodes=1", "comm.plan.algorithm=nvls"}), 1_GiB)), 4016.0,
              0.06 * 4016.0);
  EXPECT_NEAR(microseconds(run(machine(kH100), 1_GiB)), 4512.0, 0.09 * 4512.0);
}

// 8 heads x 16 KiB on one channel are one chunk: a head reads its sum from the switches, and every GPU receives the
// multicast.
TEST(Chunks, WhatComesFromTheSwitchesIsWaitedForTwice) {
  const std::vector<std::string> one = {"cluster.nodes=1", "comm.costs.switched=0us", "comm.costs.further_peer=0us",
                                        "comm.plan={algorithm: nvls, protocol: simple, channels: 1}"};
  const auto with = [&](const std::string& cost) {
    std::vector<std::string> overrides = one;
    overrides.push_back(cost);
    return run(machine(kH100, overrides), 128_KiB).time;
  };
  const Duration plain = run(machine(kH100, one), 128_KiB).time;
  EXPECT_EQ(with("comm.costs.switched=5us"), plain + 2 * 5_us);
  // The last of eight heads is scattered to after seven others, and gathered from after as many.
  EXPECT_GE(with("comm.costs.further_peer=1us"), plain + 7 * 1_us);
  EXPECT_LE(with("comm.costs.further_peer=1us"), plain + 14 * 1_us);
  // A ring uses no switch reduction, and has one peer.
  const std::vector<std::string> ring = {"cluster.nodes=1",
                                         "comm.plan={algorithm: ring, protocol: simple, channels: 1}"};
  std::vector<std::string> costly = ring;
  costly.insert(costly.end(), {"comm.costs.switched=5us", "comm.costs.further_peer=1us"});
  EXPECT_EQ(run(machine(kH100, costly), 128_KiB).time, run(machine(kH100, ring), 128_KiB).time);
}

TEST(Chunks, SmallCallsCostLaunchAndHops) {
  const Scenario scenario =
      machine(kA100, {"comm.plan.protocol=ll", "comm.costs.launch=5us", "comm.costs.launch_channel=0us",
                      "comm.costs.ll.hop=1us", "comm.costs.ll.primitive=2us"});
  // 15 primitives of 2 us with 14 hops of 1 us between them; 16 bytes take negligible time.
  EXPECT_NEAR(microseconds(run(scenario, Bytes(8))), 5.0 + 15 * 2.0 + 14 * 1.0, 0.1);
}

TEST(Chunks, ResultsNameThePlan) {
  const CollectiveResult result = run(machine(kA100), 1_MiB);
  EXPECT_EQ(result.algorithm, "ring");
  EXPECT_EQ(result.protocol, "simple");
  EXPECT_EQ(result.channels, 24);
}

TEST(Chunks, WhatAPlanCannotPlayGoesInRings) {
  const Scenario scenario = machine(kA100, {"comm.plan.algorithm=nvls_tree"});
  CollectiveBench bench(scenario);
  const auto result = bench.run({.operation = CollectiveOperation::kBroadcast, .bytes = 1_MiB});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->algorithm, "ring");
  const auto exchange = bench.run({.operation = CollectiveOperation::kAllToAll, .bytes = 1_MiB});
  ASSERT_TRUE(exchange.has_value());
  EXPECT_EQ(exchange->algorithm, "p2p");
}

TEST(Chunks, NothingBeatsTheLinks) {
  // Every GPU must send 7/8 of the buffer twice over links of 240 GB/s.
  for (const Bytes bytes : {64_KiB, 1_MiB, 64_MiB}) {
    for (const std::string protocol : {"ll", "ll128", "simple"}) {
      const double least = 2.0 * 7.0 / 8.0 * static_cast<double>(bytes.count()) / 240e9 * 1e6;
      EXPECT_GT(microseconds(run(machine(kA100, {"comm.plan.protocol=" + protocol}), bytes)), least) << protocol;
    }
  }
}

constexpr std::string_view kTraining =
    "version: 1\n"
    "cluster: {nodes: 2, node: {preset: dgx-h100}}\n"
    "training: {global_batch: 16}\n"
    "parallel: {tp: 2, dp: auto}\n"
    "collectives: {model: chunks}\n"
    "comm: {plan: {algorithm: tree, protocol: simple, channels: 8}}\n";

TEST(Chunks, PlayAWholeTrainingStepAndFoldIt) {
  const Scenario scenario = load(std::string(kTraining) + std::string(kTinyModel));
  const Played folded = play(scenario, FoldMode::kFold);
  const Played unfolded = play(scenario, FoldMode::kNoFold);
  EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
  EXPECT_EQ(folded.finished_at, unfolded.finished_at);
}

// Four stages: the messages between them also use thread blocks, and cost more than the path of the bytes.
TEST(Chunks, PlayThePipelinesMessages) {
  const std::string text = std::string(kTraining) + std::string(kTinyModel);
  const Scenario scenario = load(text, {"parallel.tp=1", "parallel.pp=4"});
  const Played folded = play(scenario, FoldMode::kFold);
  EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
  EXPECT_EQ(folded.finished_at, play(scenario, FoldMode::kNoFold).finished_at);
  const Played quick = play(load(text, {"parallel.tp=1", "parallel.pp=4", "comm.costs.launch=0us"}), FoldMode::kFold);
  EXPECT_GT(folded.in_flight(0, "pp"), quick.in_flight(0, "pp"));
}

TEST(Chunks, TheReportTellsTheChoiceOfEveryCallAndItsTime) {
  const Scenario scenario = load(std::string(kTraining) + std::string(kTinyModel));
  const std::unique_ptr<Simulation> simulation = assemble(scenario);
  const Outcome outcome = simulate(scenario, *simulation, {});
  ASSERT_EQ(outcome.end, RunOutcome::kFinished);
  const std::vector<CollectiveUse>& uses = outcome.report->facts.collectives;
  const auto gradients = std::ranges::find_if(uses, [](const CollectiveUse& use) {
    return use.dimension == "dp" && use.operation == "all_reduce";
  });
  ASSERT_NE(gradients, uses.end());
  EXPECT_EQ(gradients->algorithm, "tree");
  EXPECT_EQ(gradients->channels, 8);
  EXPECT_EQ(gradients->hosts, 2);
  EXPECT_GT(gradients->calls, 0U);
  ASSERT_TRUE(gradients->shortest && gradients->mean);
  EXPECT_GT(*gradients->shortest, Duration());
  EXPECT_LE(*gradients->shortest, *gradients->mean);
}

TEST(Chunks, SendsAndReceivesNameTheirPlanToo) {
  const Scenario scenario = machine(kH100);
  CollectiveBench bench(scenario);
  const auto result = bench.run({.operation = CollectiveOperation::kSendReceive, .bytes = 1_MiB});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->algorithm, "send");
  EXPECT_EQ(result->channels, 16);
}

TEST(Chunks, OtherRungsSayThatConstantsHaveNoEffect) {
  const Scenario scenario = machine(kA100, {"collectives.model=steps", "collectives.overhead=none"});
  const auto& ignored = scenario.document.log().ignored();
  EXPECT_TRUE(std::ranges::any_of(ignored, [](const IgnoredKey& key) { return key.path.starts_with("comm.plan"); }));
}

// NCCL's kernels give the overhead of calls whose algorithm the simple rules choose: NCCL_ALGO does not choose it.
TEST(Chunks, SimpleRulesSayThatNcclAlgoHasNoEffect) {
  const auto lists = [](const std::string& tuner) {
    const Scenario scenario = load(std::string(kTinyModel) +
                                   "training: {global_batch: 16}\nparallel: {tp: 8, dp: 2}\n"
                                   "cluster: {nodes: 2, node: {preset: dgx-h100}}\n"
                                   "collectives: {model: steps, overhead: kernels, tuner: " + tuner + "}\n"
                                   "comm: {env: {NCCL_ALGO: Ring}}\n");
    const auto& ignored = scenario.document.log().ignored();
    return std::ranges::find(ignored, "comm.env.NCCL_ALGO", &IgnoredKey::path) != ignored.end();
  };
  EXPECT_TRUE(lists("simple"));
  EXPECT_FALSE(lists("nccl"));
}

}  // namespace
}  // namespace ringwright::configs::chunks_test
