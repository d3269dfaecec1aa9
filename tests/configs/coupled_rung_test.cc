// Members that progress together: when `auto` takes them, how far they are from steps, and where they are refused.
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "configs/simulation/step_messages.h"
#include "tests/configs/played.h"

namespace ringwright::configs::coupled_rung_test {
namespace {

using testing::HasSubstr;

std::string scenario_text(std::string_view rung, std::string_view network = "flow") {
  return fmt::format(
      "{}training: {{global_batch: 32, micro_batch: 1}}\n"
      "parallel: {{tp: 4, pp: 2, dp: auto}}\n"
      "cluster: {{nodes: 8, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 2,"
      " routing: {{policy: ecmp}}}}}}\n"
      "collectives: {{model: {}}}\nsimulate: {{network: {}}}\n",
      kTinyModel, rung, network);
}

TEST(CoupledRung, IsNearStepsWithHashedRoutes) {
  const auto time = [](std::string_view rung) {
    const Scenario scenario = load(scenario_text(rung));
    return to_seconds(play_plan(scenario, *assemble(scenario)).run.record.iteration_end.back().since_start());
  };
  EXPECT_NEAR(time("coupled") / time("steps"), 1.0, 0.01);
}

TEST(CoupledRung, IsTakenByAutoWhereStepsAreTooManyMessages) {
  const Scenario small = load(scenario_text("auto"));
  EXPECT_EQ(assemble(small)->progress(), MemberProgress::kEach);
  // 32 classes; rings of data parallelism are few messages.
  EXPECT_LT(assemble(small)->progress_choice().messages.value(), kMostMessagesInSteps);

  // Hashed routes: each rank is a class. Messages of rings within a host go at once.
  const auto hashed = [](int sequences, std::string_view fast_forward) {
    return load(fmt::format(
        "model: {{preset: llama3.1-405b, seq_length: 8192}}\n"
        "training: {{global_batch: {}, micro_batch: 1}}\n"
        "parallel: {{tp: 8, pp: 14, dp: auto, sequence_parallel: true}}\n"
        "cluster: {{nodes: 56, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 28,"
        " routing: {{policy: ecmp}}}}}}\n"
        "collectives: {{model: auto}}\nsimulate: {{network: flow, fast_forward: {}}}\n",
        sequences, fast_forward));
  };
  EXPECT_EQ(assemble(hashed(64, "true"))->progress(), MemberProgress::kEach);
  EXPECT_EQ(assemble(hashed(64, "false"))->progress(), MemberProgress::kTogether);
  const Scenario large = hashed(128, "true");
  const auto simulation = assemble(large);
  EXPECT_GT(simulation->progress_choice().messages.value(), kMostMessagesInSteps);
  EXPECT_EQ(simulation->progress(), MemberProgress::kTogether);
  // The same without folding, where there are more classes.
  EXPECT_EQ(assemble(large, FoldMode::kNoFold)->progress(), MemberProgress::kTogether);
}

// One group of 2,048 in a ring over rails: all steps of all members would be compared to find equal ones.
TEST(CoupledRung, IsTakenByAutoWhereGroupsAreTooLargeToCompare) {
  const Scenario sharded =
      load("model: {preset: llama3-8b, seq_length: 8192}\n"
           "training: {global_batch: 2048, micro_batch: 1}\n"
           "parallel: {fsdp: {shard_degree: 2048}}\n"
           "cluster: {nodes: 256, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n"
           "collectives: {model: auto, overhead: none, dp_shard: {algorithm: rail_rings}}\n"
           "simulate: {network: flow}\n");
  const auto simulation = assemble(sharded);
  EXPECT_EQ(simulation->progress(), MemberProgress::kTogether);
  EXPECT_GT(simulation->progress_choice().steps_compared.value(), kMostStepsCompared);
  EXPECT_FALSE(simulation->progress_choice().messages);
}

// Of ranks that progress together it does not matter which one sends over a link that others use too.
TEST(CoupledRung, FoldsAGroupWithHashedRoutesToOneClass) {
  const Scenario sharded =
      load("model: {preset: llama3-8b, seq_length: 8192}\n"
           "training: {global_batch: 64, micro_batch: 1}\n"
           "parallel: {fsdp: {shard_degree: 64}}\n"
           "cluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2,"
           " routing: {policy: ecmp}}}\n"
           "collectives: {model: coupled, dp_shard: {algorithm: ring}}\nsimulate: {network: flow}\n");
  const auto folded = assemble(sharded);
  EXPECT_EQ(folded->folding().ranks.count(), 1U);
  const auto time = [&](const Simulation& simulation) {
    return play_plan(sharded, simulation).run.record.iteration_end.back().since_start();
  };
  EXPECT_EQ(time(*folded), time(*assemble(sharded, FoldMode::kNoFold)));
}

TEST(CoupledRung, IsStatedInTheReport) {
  const auto outcome = simulate(load(scenario_text("coupled")), FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  const std::string json = render_json(*outcome->report);
  EXPECT_THAT(json, HasSubstr("\"collectives\": \"coupled\""));
  EXPECT_THAT(json, HasSubstr("members of a call progress together, an approximation of steps"));
}

TEST(CoupledRung, NeedsANetworkThatSharesLinks) {
  EXPECT_THROW(load(scenario_text("coupled", "alpha_beta")), std::runtime_error);
  EXPECT_EQ(assemble(load(scenario_text("auto", "alpha_beta")))->progress(), MemberProgress::kEach);
}

}  // namespace
}  // namespace ringwright::configs::coupled_rung_test
