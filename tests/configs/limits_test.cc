// The limits of the clock, of memory and of run time: jobs beyond them are refused with a message, and never crash.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::limits_test {
namespace {

using testing::HasSubstr;

const std::string kJob = "version: 1\n" + std::string(kTinyModel) +
                         "training: {global_batch: 8}\n"
                         "parallel: {tp: 2, pp: 2, dp: 2}\n"
                         "cluster: {nodes: 1, node: {preset: dgx-h100}}\n"
                         "compute: {model: roofline}\n";

Outcome outcome_of(const std::vector<std::string>& overrides) {
  auto outcome = simulate(load(kJob, overrides), FoldMode::kFold);
  if (!outcome) throw std::runtime_error(render(outcome.error()));
  return std::move(*outcome);
}

// A GPU of 1 MFLOP/s makes a training step of the tiny model take hours.
const std::string kSlow = "cluster.node.gpu.peak.bf16=0.001GFLOPS";

TEST(Clock, StepsBeyondItsEndAreRefusedWithTheNumberThatFits) {
  const Outcome one = outcome_of({kSlow});
  ASSERT_EQ(one.end, RunOutcome::kFinished);
  const Duration step = one.report->step_time.mean;
  ASSERT_GT(step * 10'000, kClockEnd - step);

  const Outcome many = outcome_of({kSlow, "simulate.steps=10000"});
  EXPECT_EQ(many.end, RunOutcome::kClockRanOut);
  ASSERT_EQ(many.late.error_count(), 1U);
  const Diagnostic& why = many.late.all().front();
  EXPECT_EQ(why.code, "E148");
  EXPECT_THAT(why.message, HasSubstr("'simulate.steps' is 10000"));
  const std::int64_t fit = kClockEnd.count() / step.count();
  EXPECT_EQ(why.hint, "set simulate.steps to at most " + std::to_string(fit));

  const Outcome fitting = outcome_of({kSlow, "simulate.steps=" + std::to_string(fit)});
  ASSERT_EQ(fitting.end, RunOutcome::kFinished);
  // Some of a step overlaps with the previous one.
  EXPECT_NEAR(to_seconds(fitting.report->step_time.mean), to_seconds(step), 1e-6 * to_seconds(step));
}

TEST(Clock, AStepThatIsTooLongByItselfIsRefused) {
  for (const char* slow : {"cluster.node.nvlink.bandwidth=0.001MB/s", "cluster.node.nvlink.latency=900h"}) {
    for (const char* model : {"simulate.network=flow", "simulate.network=alpha_beta"}) {
      const Outcome outcome = outcome_of({kSlow, "training.global_batch=8000", slow, model});
      EXPECT_EQ(outcome.end, RunOutcome::kClockRanOut) << slow << " " << model;
      ASSERT_EQ(outcome.late.error_count(), 1U);
      EXPECT_THAT(outcome.late.all().front().message, HasSubstr("one training step takes longer"));
    }
  }
}

TEST(Clock, ACollectiveBeyondItsEndIsRefused) {
  const auto machine = load_machine_text(
      "slow", "version: 1\ncluster: {nodes: 1, node: {preset: dgx-h100, nvlink: {bandwidth: 0.001MB/s}}}\n");
  ASSERT_TRUE(machine);
  CollectiveBench bench(*machine);
  const auto result = bench.run({.bytes = Bytes(std::int64_t{1} << 40U)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().all().front().code, "E148");
}

TEST(RunCost, ManySmallChunksAreRefusedBeforeTheyArePlayed) {
  const std::string text =
      "version: 1\ncluster: {nodes: 1, node: {preset: dgx-h100}}\n"
      "comm: {plan: {algorithm: ring, protocol: simple, channels: 1, chunk: 1B}}\n";
  const auto machine = load_machine_text("chunks", text);
  ASSERT_TRUE(machine);
  CollectiveBench bench(*machine);
  const auto result = bench.run({.bytes = Bytes(std::int64_t{8} << 30U)});
  ASSERT_FALSE(result);
  const Diagnostic& why = result.error().all().front();
  EXPECT_EQ(why.code, "E149");
  // A ring's rank forwards each of its 8 GiB / 8 bytes 2 x 7 times, in a chunk each: 1.5e10 messages.
  EXPECT_THAT(why.message, HasSubstr("messages"));
  EXPECT_THAT(why.hint, HasSubstr("simulate.allow_slow=true"));
}

TEST(RunCost, WhoeverInsistsGoesOn) {
  const RunCost cost{.seconds = 1e6, .memory = 1e15, .counts = "much", .at = {}};
  EXPECT_TRUE(too_costly(load(kJob), cost).has_errors());
  EXPECT_FALSE(too_costly(load(kJob, {"simulate.allow_slow=true"}), cost).has_errors());
}

// Experts of 16 ranks on racks of 72 GPUs: the fifth of nine groups has half of its ranks in each rack, so that each of
// them sends 8 messages over the network in an exchange. On racks of 64 all groups stay within one.
TEST(RunCost, AllToAllsBetweenHostsCountMessageByMessage) {
  const std::string job =
      "version: 1\nmodel: {preset: deepseek-v3, num_layers: 2, first_k_dense_replace: 1, mtp_num_layers: 0}\n"
      "training: {global_batch: 144, micro_batch: 1, recompute: full}\n"
      "parallel: {ep: 16, etp: 1, dp: auto, moe_token_dispatcher_type: alltoall}\n"
      "cluster: {nodes: 2, node: {preset: gb200-nvl72}}\n";
  const Scenario straddling = load(job);
  const auto simulation = assemble(straddling);
  const Estimate cost = estimate(*simulation);
  EXPECT_GT(cost.exchanged, 0.0);
  EXPECT_GE(cost_of_playing(straddling, *simulation).seconds, 0.5e-6 * (cost.tasks + cost.exchanged));
  const std::vector<std::string> whole = {"cluster.node.gpus=64", "cluster.node.nic.count=64",
                                          "training.global_batch=128"};
  EXPECT_EQ(estimate(*assemble(load(job, whole))).exchanged, 0.0);
}

TEST(RunCost, MicrobatchesThatCannotBeLaidOutAreRefused) {
  const auto scenario = load_scenario_text("job.yaml", kJob, {.overrides = {"training.global_batch=1000000000"}});
  ASSERT_FALSE(scenario);
  // 1e9 / (1 x dp 2) microbatches of 2 stages.
  EXPECT_THAT(render(scenario.error()), HasSubstr("500000000 microbatches"));
}

TEST(Limits, SizesWhoseGemmsLeave64BitsAreRefused) {
  const auto scenario =
      load_scenario_text("job.yaml", kJob,
                         {.overrides = {"model.hidden_size=1000000", "model.num_experts=10000000",
                                        "model.moe_router_topk=2", "model.moe_ffn_hidden_size=10000000"}});
  ASSERT_FALSE(scenario);
  EXPECT_THAT(render(scenario.error()), HasSubstr("parameters, and at most 1e+17 can be counted"));
}

}  // namespace
}  // namespace ringwright::configs::limits_test
