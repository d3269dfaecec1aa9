// Pipelines that never run empty, and Varuna's order, as whole scenarios: bubbles, memory, the cost of a slow network.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::endless_pipeline_test {
namespace {

constexpr const char* kOneHost =
    "{nodes: 1, node: {preset: dgx-h100, gpus: 4, nvlink: {bandwidth: 100000GB/s}}, fabric: {type: single_node}}";
std::string hosts(const std::string& nic) {
  return "{nodes: 4, node: {preset: dgx-h100, gpus: 1, nic: {bandwidth: " + nic + "}}, fabric: {type: fat_tree}}";
}

// Layers are large and everything else is small, so that stages are balanced; in one host messages cost next to
// nothing.
std::string job(const std::string& schedule, int microbatches, const std::string& more = "",
                const std::string& cluster = kOneHost) {
  return fmt::format(
      "model: {{num_layers: 8, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 16384, vocab_size: 64,"
      " seq_length: 2048, untie_embeddings_and_output_weights: true}}\n"
      "training: {{global_batch: {}{}}}\nparallel: {{pp: 4, schedule: {}}}\ncluster: {}\n",
      microbatches, more, schedule, cluster);
}

Report report_of(const std::string& text) {
  const Scenario scenario = load(text);
  const auto simulation = assemble(scenario);
  Outcome outcome = simulate(scenario, *simulation, {});
  EXPECT_EQ(outcome.end, RunOutcome::kFinished);
  return std::move(*outcome.report);
}

double worst_bubble(const Report& report) {
  double worst = 0.0;
  for (const StageBubble& stage : report.bubbles) worst = std::max(worst, stage.of_step());
  return worst;
}

// 1F1B: (p - 1) / (m + p - 1) = 3 / 7 of the passes; the update, of which a step is a tenth, comes on top. PipeDream
// has no bubble in its steady state.
TEST(EndlessPipelines, HaveNoBubbleWhereOneForwardOneBackwardHas) {
  EXPECT_NEAR(worst_bubble(report_of(job("1f1b", 4))), 3.0 / 7.0, 0.05);
  EXPECT_LT(worst_bubble(report_of(job("pipedream", 4))), 0.01);
  EXPECT_LT(worst_bubble(report_of(job("pipedream-2bw", 4))), 0.01);
}

TEST(EndlessPipelines, TakeTheTimeOfTheirPassesAlone) {
  // One microbatch a step: without a bubble a step lasts what four of them last a quarter of; 1F1B needs p times that.
  const double one = to_seconds(report_of(job("pipedream", 1)).step_time.mean);
  const double plain = to_seconds(report_of(job("1f1b", 1)).step_time.mean);
  EXPECT_GT(plain / one, 2.0);
}

TEST(EndlessPipelines, ArePlayedFromTheirSteadyStateOn) {
  const Scenario scenario = load(job("pipedream", 1));
  EXPECT_EQ(scenario.simulate.warmup, 8);  // two microbatches for each of four stages
  EXPECT_EQ(scenario.simulate.steps, 8);
  EXPECT_EQ(load(job("pipedream", 1) + "simulate: {warmup: 3, steps: 2}\n").simulate.warmup, 3);
  EXPECT_EQ(load(job("1f1b", 1)).simulate.warmup, 0);
}

TEST(EndlessPipelines, TellTheirVersionsOfTheWeights) {
  std::vector<int> versions;
  for (const StageBubble& stage : report_of(job("pipedream", 1)).bubbles) versions.push_back(stage.weight_versions);
  EXPECT_THAT(versions, testing::ElementsAre(4, 3, 2, 1));
}

// A stage that waits for a gradient has recomputed its layers in the meantime: the slower the network, the larger the
// gain.
TEST(Varuna, GainsOnASlowNetwork) {
  const auto seconds = [](const std::string& schedule, const std::string& nic) {
    return to_seconds(
        report_of(job(schedule, 16, ", recompute: full, recompute_num_layers: 2", hosts(nic))).step_time.mean);
  };
  EXPECT_LT(seconds("varuna", "10Gbps"), seconds("1f1b", "10Gbps"));
  const double gain_slow = seconds("1f1b", "5Gbps") / seconds("varuna", "5Gbps");
  const double gain_fast = seconds("1f1b", "400000Gbps") / seconds("varuna", "400000Gbps");
  EXPECT_GT(gain_slow, gain_fast);
}

TEST(EndlessPipelines, AreFoldedExactly) {
  for (const char* schedule : {"pipedream", "pipedream-2bw", "varuna"}) {
    const Scenario scenario = load(fmt::format(
        "{}training: {{global_batch: 16, recompute: full}}\nparallel: {{tp: 2, pp: 4, dp: auto, schedule: {}}}\n"
        "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 2, leaf: "
        "{{ports: 4}}, spine: {{ports: 16}}}}}}\n",
        kTinyModel, schedule));
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_LT(folded.folding.ranks.count(), whole.folding.ranks.count()) << schedule;
    EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << schedule;
    EXPECT_EQ(folded.finished_at, whole.finished_at) << schedule;
  }
}

}  // namespace
}  // namespace ringwright::configs::endless_pipeline_test
