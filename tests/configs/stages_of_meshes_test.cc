// Pipelines whose stages have ranks of their own, as whole scenarios.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/same_runs.h"
#include "tests/paths.h"

namespace ringwright::configs::stages_of_meshes_test {
namespace {

using testing::HasSubstr;

std::string scenario(const std::string& parallel, const std::string& more = "") {
  return std::string(kTinyModel) + "training: {global_batch: 16" + more + "}\nparallel: {" + parallel +
         "}\ncluster: {nodes: 2, node: {preset: dgx-a100}, fabric: {type: fat_tree}}\n";
}

// The same layout as a list of equal stages.
TEST(StagesOfMeshes, EqualOnesAreTheUsualLayout) {
  const std::string usual = "tp: 2, pp: 4, dp: 2, layers_per_part: [3, 2, 2, 1], scatter_gather_p2p: true";
  const std::string listed =
      "stages: [{layers: 3, tp: 2, dp: 2}, {layers: 2, tp: 2, dp: 2}, {layers: 2, tp: 2, dp: 2}, "
      "{layers: 1, tp: 2, dp: 2}]";
  for (const char* more : {"", ", sequence_parallel: true", ", zero: {stage: 1, overlap_grad_reduce: true}",
                           ", schedule: gpipe", ", schedule: zb-h1", ", overlap_p2p_comm: true"}) {
    for (const char* training : {"", ", recompute: full", ", micro_batch: 2"}) {
      const Played expected = play(load(scenario(usual + more, training)));
      const Played found = play(load(scenario(listed + more, training)));
      EXPECT_EQ(found.finished_at, expected.finished_at) << more << training;
      EXPECT_EQ(found.record.sent, expected.record.sent) << more << training;
    }
  }
}

const char* const kUnequal[] = {
    "stages: [{layers: 2, tp: 8}, {layers: 4, tp: 2, dp: 2}, {layers: 2, dp: 4}]",
    "sequence_parallel: true, stages: [{layers: 1, tp: 2, dp: 4}, {layers: 6, tp: 4, dp: 1}, {layers: 1, dp: 4}]",
    "schedule: gpipe, zero: {stage: 1}, stages: [{layers: 5, dp: 8}, {layers: 3, tp: 4, dp: 2}]",
    "schedule: zb-h1, stages: [{layers: 4, tp: 8}, {layers: 4, dp: 8}]", "stages: [{layers: 8, tp: 4, dp: 4}]"};

TEST(StagesOfMeshes, FoldedIsTheWhole) {
  for (const char* layout : kUnequal) {
    const Scenario loaded = load(scenario(layout));
    const Played whole = play(loaded, FoldMode::kNoFold);
    const Played folded = play(loaded);
    ASSERT_EQ(whole.outcome, RunOutcome::kFinished) << layout;
    EXPECT_EQ(folded.finished_at, whole.finished_at) << layout;
    expect_same_passes(scenario(layout));
  }
}

// Of a microbatch every byte of the activation is sent once to the next stage, and its gradient back.
TEST(StagesOfMeshes, MoveEveryActivationOnce) {
  const Bytes activation(2 * 128 * 256);  // of a sequence
  for (const char* layout : {kUnequal[0], kUnequal[1], kUnequal[2]}) {
    const Scenario loaded = load(scenario(layout));
    const Played played = play(loaded, FoldMode::kNoFold);
    Bytes sent;
    for (std::size_t rank = 0; rank < 16; ++rank) sent += played.sent(rank, "pp");
    const std::int64_t boundaries = loaded.job.parallel.pp - 1;
    EXPECT_EQ(sent, activation * (16 * 2 * boundaries)) << layout;
  }
}

TEST(StagesOfMeshes, MemoryIsOfTheirOwnLayout) {
  const Scenario loaded = load(scenario("stages: [{layers: 4, tp: 8}, {layers: 4, dp: 8}]"));
  const std::vector<MemoryRow> rows = memory_rows(loaded);
  const Scenario sharded = load(scenario("tp: 8, pp: 2, dp: 1"));
  const Scenario whole = load(scenario("tp: 1, pp: 2, dp: 8"));
  const auto weights = [](const MemoryRow& row) {
    for (const MemoryItem& item : row.items) {
      if (item.name == "weights") return item.size;
    }
    return Bytes(0);
  };
  EXPECT_EQ(weights(rows[0]), weights(memory_rows(sharded)[0]));
  EXPECT_EQ(weights(rows[1]), weights(memory_rows(whole)[1]));
}

// More ranks for the stage with more layers: a better balance, as in Alpa's plans.
TEST(StagesOfMeshes, MoreRanksForMoreLayersAreFaster) {
  const auto time = [](const std::string& layout) {
    return play(load(std::string("model: {preset: megatron-1.7b, untie_embeddings_and_output_weights: true}\n"
                                 "training: {global_batch: 96}\nparallel: {") +
                     layout + "}\ncluster: {nodes: 1, node: {preset: dgx-a100}}\n"))
        .time();
  };
  EXPECT_LT(time("stages: [{layers: 18, dp: 6}, {layers: 6, dp: 2}], zero: {stage: 1}"),
            time("stages: [{layers: 18, dp: 4}, {layers: 6, dp: 4}], zero: {stage: 1}"));
}

TEST(StagesOfMeshes, AreReadFromAPlanFile) {
  const Played listed = play(load(scenario(kUnequal[0])));
  const Played planned = play(load(scenario(fmt::format("plan_file: {}/configs/own-plan.yaml", test_data()))));
  EXPECT_EQ(planned.finished_at, listed.finished_at);
  EXPECT_THAT(refusal_of(scenario(fmt::format("plan_file: {}/configs/own-schedule.yaml", test_data()))),
              HasSubstr("own-schedule.yaml"));
}

TEST(StagesOfMeshes, ReportNamesThem) {
  const auto outcome = simulate(load(scenario(kUnequal[0])), FoldMode::kFold);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_THAT(render_text(*outcome->report), HasSubstr("PP 3: TP 8 x DP 1, TP 2 x DP 2, TP 1 x DP 4"));
}

}  // namespace
}  // namespace ringwright::configs::stages_of_meshes_test
