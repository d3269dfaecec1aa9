// Messages for impossible scenarios: exact words, with the position of every value involved.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::refusals_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A valid scenario, with `from` replaced by `to`.
std::string scenario_text(const std::string& from = "", const std::string& to = "") {
  std::string text =
      "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128}\n"
      "training: {global_batch: 32, micro_batch: 1}\n"
      "parallel: {tp: 4, pp: 2, dp: 2}\n"
      "cluster:\n"
      "  nodes: 2\n"
      "  node: {preset: dgx-h100}\n"
      "  fabric: {type: rail_optimized}\n"
      "collectives: {tuner: simple}\n"
      "simulate: {network: flow}\n";
  if (from.empty()) return text;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("not there: " + from);
  return text.replace(at, from.size(), to);
}

// "line:column: CODE message | hint"
std::vector<std::string> messages_of(const Diagnostics& diagnostics) {
  std::vector<std::string> result;
  for (const Diagnostic& d : diagnostics.all()) {
    std::string text = d.place.file;
    if (d.place.line > 0) text += ":" + std::to_string(d.place.line) + ":" + std::to_string(d.place.column);
    text += " " + d.code + " " + d.message;
    if (!d.hint.empty()) text += " | " + d.hint;
    result.push_back(text);
  }
  return result;
}

std::vector<std::string> refusals(const std::string& text) {
  const auto scenario = load_scenario_text("job.yaml", text);
  if (!scenario) return messages_of(scenario.error());
  const auto simulation = Simulation::assemble(*scenario, FoldMode::kFold);
  return simulation ? std::vector<std::string>{} : messages_of(simulation.error());
}

TEST(Refusals, ASoundScenarioHasNone) {
  EXPECT_THAT(refusals(scenario_text()), ElementsAre());
}

TEST(Refusals, ALayoutThatDoesNotFillTheClusterNamesBothPlaces) {
  std::string text = scenario_text("dp: 2", "dp: 3");
  text.replace(text.find("global_batch: 32"), 16, "global_batch: 48");  // which three replicas share
  EXPECT_THAT(
      refusals(text),
      ElementsAre("job.yaml:3:30 E130 parallel: tp 4 x cp 1 x pp 2 x dp 3 = 24 ranks, but cluster.nodes = 2 x 8 "
                  "GPUs (job.yaml:5) = 16 ranks | set parallel.dp: auto (2)"));
}

TEST(Refusals, ALayoutThatDoesNotDivideTheClusterSaysSo) {
  EXPECT_THAT(
      refusals(scenario_text("pp: 2, dp: 2", "pp: 8, dp: auto")),
      ElementsAre("job.yaml:3:1 E130 parallel: tp 4 x cp 1 x pp 8 = 32 ranks do not divide cluster.nodes = 2 x 8 "
                  "GPUs (job.yaml:5) = 16 ranks"));
}

TEST(Refusals, HeadsThatTensorRanksDoNotShareNameTheModelsKey) {
  EXPECT_THAT(refusals(scenario_text("num_attention_heads: 8", "num_attention_heads: 6, kv_channels: 32")),
              ElementsAre(HasSubstr("job.yaml:3:16 E134 parallel.tp = 4 does not divide the 6 attention heads of "
                                    "model.num_attention_heads (job.yaml:1) | valid values: 1 2"),
                          HasSubstr("key-value heads")));
}

TEST(Refusals, LayersThatStagesDoNotShareListThePathsOut) {
  EXPECT_THAT(
      refusals(scenario_text("num_layers: 8", "num_layers: 9")),
      ElementsAre("job.yaml:3:23 E131 parallel.pp = 2 does not divide 9 layers | valid values for 9 layers: 1 3 9; "
                  "or set parallel.stage_layers: balanced; or list them in parallel.layers_per_part"));
}

TEST(Refusals, ABatchThatReplicasDoNotShareNamesWhereTheyComeFrom) {
  EXPECT_THAT(
      refusals(scenario_text("global_batch: 32", "global_batch: 33")),
      ElementsAre("job.yaml:2:26 E136 training.global_batch = 33 is not a multiple of micro_batch x dp = 1 x 2 = 2 "
                  "| dp comes from cluster.nodes = 2 x 8 GPUs (job.yaml:5) / (tp 4 x cp 1 x pp 2)"));
}

TEST(Refusals, MicrobatchesThatAScheduleCannotRunAreCounted) {
  EXPECT_THAT(
      refusals(scenario_text("global_batch: 32, micro_batch: 1}\nparallel: {tp: 4, pp: 2,",
                             "global_batch: 6}\nparallel: {tp: 4, pp: 2, schedule: dualpipe, ")),
      ElementsAre("job.yaml:3:36 E137 'dualpipe' needs 4 microbatches or more, 2 for each of pp = 2 stages, but "
                  "there are 3 | microbatches = training.global_batch (job.yaml:2) 6 / (micro_batch 1 x dp 2)"));
}

TEST(Refusals, APresetThatIsNotShippedIsReportedWithTheNearest) {
  const auto refused = refusals(scenario_text("preset: dgx-h100", "preset: dgx-h10"));
  ASSERT_FALSE(refused.empty());
  EXPECT_THAT(refused.front(), HasSubstr("job.yaml:6:18 "));
  EXPECT_THAT(refused.front(), HasSubstr("'dgx-h10'"));
  EXPECT_THAT(refused.front(), HasSubstr("'dgx-h100'"));
}

TEST(Refusals, AnUnknownAlgorithmIsReportedWithTheNearest) {
  const auto refused = refusals(scenario_text("tuner: simple", "tuner: simple, dp: {algorithm: rng}"));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0], HasSubstr("job.yaml:8:46 E107 "));
  EXPECT_THAT(refused[0], HasSubstr("'collectives.dp.algorithm' is 'rng'; did you mean 'ring'?"));
}

TEST(Refusals, AnAlgorithmThatCannotPlayACallIsReportedBeforeTheRun) {
  // A binary tree does not gather, but ZeRO's parameters need an all-gather.
  std::string text = scenario_text("dp: 2}", "dp: 2, zero: {stage: 1}}");
  text.replace(text.find("tuner: simple"), 13, "dp: {algorithm: double_tree}");
  const auto refused = refusals(text);
  ASSERT_EQ(refused.size(), 2U);  // the scatter and the gather
  for (const std::string& line : refused) {
    EXPECT_THAT(line, HasSubstr("E151 'collectives.dp.algorithm' cannot carry out "));
    EXPECT_THAT(line, HasSubstr("'double_tree' does not support the "));
    EXPECT_THAT(line, HasSubstr("job.yaml:8"));
  }
}

TEST(Refusals, InSwitchReductionNeedsSwitchesThatReduce) {
  std::string text = scenario_text("preset: dgx-h100", "preset: dgx-a100");
  text.replace(text.find("tuner: simple"), 13, "tp: {algorithm: in_switch}");
  const auto refused = refusals(text);
  ASSERT_FALSE(refused.empty());
  EXPECT_THAT(refused[0], HasSubstr("'in_switch' needs hosts whose NVSwitches reduce (NVLS); these do not"));
}

TEST(Refusals, APrecisionThatTheGpuDoesNotHaveIsNoCrash) {
  EXPECT_THAT(refusals(scenario_text("preset: dgx-h100", "preset: dgx1-v100")),
              ElementsAre(HasSubstr("E135 training.precision = bf16, but V100-SXM2-32GB has no bf16 arithmetic "
                                    "(cluster.node.gpu.peak) | set training.precision: fp16")));
}

TEST(Refusals, AllMistakesComeAtOnce) {
  std::string text = scenario_text("global_batch: 32", "global_batch: 33");
  text.replace(text.find("tuner"), 5, "tunr");
  text.replace(text.find("network: flow"), 13, "network: flw");
  const auto lines = refusals(text);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines, testing::Contains(HasSubstr("'collectives.tunr'; did you mean 'tuner'?")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("'flw'; did you mean 'flow'?")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("E136")));
}

TEST(Memory, ThatDoesNotSufficeIsAFindingOfTheReport) {
  const Scenario scenario = load(scenario_text(), {"cluster.node.gpu.memory=1GiB"});
  const auto rows = memory_rows(scenario);
  ASSERT_EQ(rows.size(), 2U);  // a row for each stage
  for (const MemoryRow& row : rows) {
    EXPECT_EQ(row.capacity, Bytes(1 << 30));
    Bytes sum;
    for (const MemoryItem& item : row.items) sum += item.size;
    EXPECT_EQ(sum, row.total);
    EXPECT_GT(row.total, row.capacity);  // the runtime's own share alone is larger
  }
  const Outcome outcome = simulate(scenario, *assemble(scenario));
  ASSERT_TRUE(outcome.report.has_value());  // the time is still reported
  ASSERT_TRUE(outcome.report->fullest_memory.has_value());
  EXPECT_GT(fill(outcome.report->facts.memory[*outcome.report->fullest_memory]), 1.0);
}


// Whether the layout fits a model that could not be read is not checked.
TEST(Refusals, AnUnknownFamilyOfHuggingFaceIsTheOnlyMistake) {
  const std::string file = test::own_folder() + "ringwright-unknown-family.json";
  std::ofstream(file) << "{\"model_type\": \"mamba\", \"hidden_size\": 64}";
  const auto refused = refusals(scenario_text(
      "{num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128}",
      "{hf: " + file + "}"));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused.front(), HasSubstr("E107 'model_type' is 'mamba'"));
}

TEST(Refusals, ABrokenFileOfAModelIsTheOnlyMistake) {
  const std::string file = test::own_folder() + "ringwright-broken-model.json";
  std::ofstream(file) << "{\"model_type\": \"llama\", \"hidden_size\": 64";
  const auto refused = refusals(
      scenario_text("{num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128}",
                    "{hf: " + file + ", seq_length: 128}"));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused.front(), HasSubstr("E101 '{' is never closed"));
}

}  // namespace
}  // namespace ringwright::configs::refusals_test
