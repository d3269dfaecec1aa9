// Checks of R2 and R4 to R7 (docs/systems.md).
#include "planning/embeddings/embeddings.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"
#include "workload/recommendation/row_access.h"

namespace ringwright::planning::embeddings_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using workload::RowAccess;

constexpr std::string_view kModel =
    "recommendation: {dense_features: 13, bottom_mlp: [512, 256, 64], top_mlp: [512, 256, 1], global_batch: 16384,\n"
    "  optimizer: sgd, tables: [{count: 8, rows: 10000000, dim: 64, pooling: 1, sharding: row_wise}],\n"
    "  zipf: 1.1}\n"
    "cluster: {nodes: 1, node: {preset: dgx-a100}, fabric: {type: single_node}}\ncompute: {model: roofline}\n";

EmbeddingsResult study(std::vector<std::string> settings = {}) {
  auto result = study_embeddings(configs::load(kModel, std::move(settings)));
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

Duration step_with(std::vector<std::string> settings) {
  const auto outcome = configs::simulate(configs::load(kModel, std::move(settings)), configs::FoldMode::kFold);
  if (!outcome || !outcome->report) throw std::runtime_error("the step does not end");
  return outcome->report->step_time.mean;
}

TEST(RowAccess, SharesAndDistinctRowsAreTheirSums) {
  const double rows = 20000, exponent = 1.2;
  double all = 0.0, top = 0.0, distinct = 0.0;
  for (double i = 1; i <= rows; ++i) all += std::pow(i, -exponent);
  for (double i = 1; i <= rows; ++i) {
    const double p = std::pow(i, -exponent) / all;
    if (i <= 5000) top += p;
    distinct += 1.0 - std::pow(1.0 - p, 30000.0);
  }
  const RowAccess access(rows, exponent);
  EXPECT_NEAR(access.share_of_top(5000), top, 1e-6);
  EXPECT_NEAR(access.distinct(30000), distinct, 1e-3 * distinct);
}

TEST(RowAccess, WithoutSkewAllRowsAreAlike) {
  const RowAccess access(1000, 0.0);
  EXPECT_NEAR(access.share_of_top(10), 0.01, 1e-12);
  EXPECT_NEAR(access.distinct(1000), 1000 * (1.0 - std::pow(0.999, 1000)), 1e-9);
}

// R4: with the skew of Bagpipe's traces one row in a hundred meets 92 % of the lookups.
TEST(RowAccess, AnExponentMeetsTheHitsOfBagpipe) {
  const double rows = 33.8e6;  // of Criteo Kaggle's tables together
  const double exponent = workload::zipf_exponent(rows, 0.01 * rows, 0.92);
  EXPECT_NEAR(RowAccess(rows, exponent).share_of_top(0.01 * rows), 0.92, 1e-6);
  EXPECT_GT(exponent, 1.0);
  EXPECT_LT(exponent, 1.3);
}

// R2: misses cross PCIe: a larger cache is faster, and the more so the narrower the link to the host is.
TEST(Embeddings, ACacheOfPopularRowsIsFasterTheLargerItIs) {
  const Duration all = step_with({});
  const Duration large = step_with({"recommendation.cache.rows=10%"});
  const Duration small = step_with({"recommendation.cache.rows=0.1%"});
  EXPECT_LT(all, large);
  EXPECT_LT(large, small);
  EXPECT_GT(step_with({"recommendation.cache.rows=0.1%", "cluster.node.pcie.bandwidth=4GB/s"}), small);
}

// R4: rows of the next batches come while this one is computed.
TEST(Embeddings, ALookaheadHidesTheFetch) {
  EXPECT_LT(step_with({"recommendation.cache.lookahead=50"}), step_with({"recommendation.cache.rows=0"}));
  const EmbeddingsResult result = study();
  EXPECT_GT(result.lookaheads[0].fetched, result.lookaheads[3].fetched);
  EXPECT_LT(result.lookaheads[0].held, result.lookaheads[3].held);
  EXPECT_LT(result.caches[0].hits, result.caches[3].hits);
}

TEST(Embeddings, FoldedIsTheWhole) {
  for (const char* cache : {"recommendation.cache.rows=1%", "recommendation.cache.lookahead=20"}) {
    const configs::Scenario scenario = configs::load(kModel, {cache});
    const auto folded = configs::simulate(scenario, configs::FoldMode::kFold);
    const auto whole = configs::simulate(scenario, configs::FoldMode::kNoFold);
    ASSERT_TRUE(folded && whole);
    EXPECT_EQ(folded->report->step_time.mean, whole->report->step_time.mean);
  }
}

// R5: a consecutive increment has the rows of one interval, each with its weights in so many bits, a scale and an
// offset, and its number.
TEST(Embeddings, ACheckpointHasTheRowsThatWereTouched) {
  const EmbeddingsResult result =
      study({"recommendation.upkeep.bits=4", "recommendation.upkeep.interval=10s"});
  const double steps = 10.0 / to_seconds(result.step);
  const double rows = 8 * RowAccess(10e6, 1.1).distinct(16384 * steps);
  EXPECT_NEAR(result.checkpoints[2].first, rows * (64 * 4 / 8 + 8 + 8), 1e-6 * result.checkpoints[2].first);
  EXPECT_EQ(result.checkpoints[1].first, result.checkpoints[2].first);
  for (const CheckpointRow& row : result.checkpoints) EXPECT_GT(row.less_written, 1.0) << row.policy;
  EXPECT_GT(result.checkpoints[2].less_written, result.checkpoints[1].less_written);
  EXPECT_GE(result.checkpoints[1].less_kept, result.checkpoints[2].less_kept);
}

// Eight tables of 10 million rows of 64 columns: a checkpoint is as wide as they are, and `less_written` says what
// quantising saves. A row of int8 has a scale and an offset of its own.
TEST(Embeddings, ACheckpointIsAsWideAsItsTables) {
  const auto full = [](std::vector<std::string> settings) { return study(std::move(settings)).checkpoints[0]; };
  const CheckpointRow half = full({"recommendation.embedding_precision=fp16"});
  EXPECT_DOUBLE_EQ(half.mean, 8 * 10e6 * 64 * 2);
  EXPECT_DOUBLE_EQ(half.less_written, 1.0);
  EXPECT_DOUBLE_EQ(full({"recommendation.embedding_precision=int8"}).mean, 8 * 10e6 * (64 + 4));
  const CheckpointRow quantised = full({"recommendation.embedding_precision=fp16", "recommendation.upkeep.bits=4"});
  EXPECT_DOUBLE_EQ(quantised.mean, 8 * 10e6 * (64 / 2 + 8));
  EXPECT_DOUBLE_EQ(quantised.less_written, 128.0 / 40.0);
  EXPECT_THAT(configs::refusal_of(std::string(kModel),
                                  {"recommendation.embedding_precision=fp16", "recommendation.upkeep.bits=32"}),
              HasSubstr("'recommendation.upkeep.bits' is 32 but must be between 2 and 16"));
}

// R6: O_save / T_save + (O_load + T_save / 2 + O_restart) / T_fail, without the half interval of partial recovery.
TEST(Embeddings, OverheadsOfRecoveryAreTheFormulasOfCpr) {
  const EmbeddingsResult result = study({"recommendation.upkeep.mtbf=10h", "recommendation.upkeep.restart=60s",
                                         "recommendation.upkeep.storage=1GB/s", "recommendation.upkeep.servers=8"});
  const double save = 8 * 10e6 * 64 * 4 / 1e9, fail = 36000.0, every = std::sqrt(2 * save * fail);
  EXPECT_NEAR(result.recoveries[0].overhead, save / every + (save + every / 2 + 60) / fail, 1e-9);
  EXPECT_NEAR(result.recoveries[1].overhead, save / every + (save / 8 + 60) / fail, 1e-9);
  EXPECT_NEAR(result.recoveries[2].pls, 0.1, 1e-9);
  EXPECT_LT(result.recoveries[2].overhead, result.recoveries[1].overhead);
  EXPECT_LT(result.recoveries[1].overhead, result.recoveries[0].overhead);
  EXPECT_THAT(render_embeddings_text(result), Not(HasSubstr("e+")));  // long intervals are hours
}

TEST(Embeddings, SmallSizesHaveSmallUnits) {
  const EmbeddingsResult result = study({"recommendation.tables=[{rows: 1024, dim: 64, pooling: 2}]"});
  EXPECT_DOUBLE_EQ(result.table_bytes, 1024 * 64 * 4.0);
  EXPECT_THAT(render_embeddings_text(result), HasSubstr("tables of 256 KiB"));
}

// What `checkpoints` and `bits` save is what a recovery loads.
TEST(Embeddings, RecoverySavesAndLoadsTheChosenCheckpoints) {
  const std::vector<std::string> often{"recommendation.upkeep.interval=10s", "recommendation.upkeep.bits=8",
                                       "recommendation.upkeep.storage=1GB/s", "recommendation.upkeep.mtbf=10h"};
  for (const auto& [name, at] : {std::pair{"full", 0U}, std::pair{"one_shot", 1U}, std::pair{"consecutive", 2U}}) {
    std::vector<std::string> settings = often;
    settings.push_back(std::string("recommendation.upkeep.checkpoints=") + name);
    const EmbeddingsResult result = study(settings);
    const double save = result.checkpoints[at].mean / 1e9, load = result.checkpoints[at].largest_kept / 1e9;
    const double fail = 36000.0, every = std::sqrt(2 * save * fail);
    EXPECT_NEAR(result.recoveries[0].overhead, save / every + (load + every / 2 + 300) / fail, 1e-9) << name;
  }
}

// Nothing else uses it.
TEST(Embeddings, UseTheUpkeep) {
  const configs::Scenario scenario =
      configs::load(kModel, {"recommendation.upkeep.bits=8"});
  const std::string warnings = render(embeddings_warnings(scenario));
  EXPECT_THAT(warnings, Not(HasSubstr("recommendation.upkeep")));
  EXPECT_THAT(warnings, HasSubstr("cluster.fabric.type has no effect"));
}

// A checkpoint in two days is compared with a second one as well.
TEST(Embeddings, RareCheckpointsHaveASecondOne) {
  for (const CheckpointRow& row : study({"recommendation.upkeep.interval=40h"}).checkpoints) {
    EXPECT_GT(row.first, 0.0) << row.policy;
  }
}

// 17,280 checkpoints a day: sums of a few hundred interpolated numbers of changed rows. The sum over each interval, by
// RowAccess itself, is the reference.
TEST(Embeddings, ManyCheckpointsOfADayAreInterpolated) {
  const EmbeddingsResult result =
      study({"recommendation.upkeep.interval=5s", "recommendation.upkeep.bits=8", "recommendation.global_batch=64"});
  const double steps = 5.0 / to_seconds(result.step);
  const RowAccess access(1e7, 1.1);
  constexpr double kRow = 64.0 + 8.0 + 8.0;  // weights, scale and offset, number
  const double all = 8.0 * 1e7 * (64.0 + 8.0);
  double written = all;
  double since = 0.0;
  for (int i = 1; i < 17'280; ++i) {
    since += 1.0;
    double own = 8.0 * access.distinct(64.0 * steps * since) * kRow;
    if (own > all) {
      own = all;
      since = 0.0;
    }
    written += own;
  }
  ASSERT_EQ(result.checkpoints[1].policy, "one_shot");
  EXPECT_NEAR(result.checkpoints[1].mean, written / 17'280.0, 1e-3 * written / 17'280.0);
}

TEST(Embeddings, ACheckpointIntervalHasAStep) {
  const auto slow = study_embeddings(configs::load(
      kModel, {"recommendation.upkeep.interval=1s", "recommendation.global_batch=100000000"}));
  ASSERT_FALSE(slow);
  EXPECT_THAT(render(slow.error()), HasSubstr("recommendation.upkeep.interval is 1"));
}

// R7: r / k more memory; every update is sent to r more servers; k parts make a lost one anew.
TEST(Embeddings, AnErasureCodeCostsItsParity) {
  const EmbeddingsResult one = study({"recommendation.upkeep.data_servers=4"});
  const EmbeddingsResult two =
      study({"recommendation.upkeep.data_servers=4", "recommendation.upkeep.parity_servers=2"});
  EXPECT_DOUBLE_EQ(one.memory_overhead, 0.25);
  EXPECT_DOUBLE_EQ(two.memory_overhead, 0.5);
  EXPECT_NEAR(two.parity_bytes, 2.0 * one.parity_bytes, 1e-6 * two.parity_bytes);
  EXPECT_NEAR(to_seconds(one.rebuild), one.table_bytes / 8 * 4 / 3.125e9, 1e-6);
}

// Rows of a bag that follow from its first one are drawn once: twenty to a bag are twenty times those of one.
TEST(Embeddings, FixedBagsHaveTheRowsOfOneDrawForEachSample) {
  const std::string bags =
      "recommendation.tables=[{count: 8, rows: 10000000, dim: 64, pooling: 20, sharding: row_wise}]";
  const EmbeddingsResult one = study();
  const EmbeddingsResult fixed = study({bags, "recommendation.fixed_bags=true"});
  EXPECT_NEAR(fixed.unique_rows, one.unique_rows, 1e-9);
  EXPECT_NEAR(fixed.lookaheads[0].held, 20.0 * one.lookaheads[0].held, 1e-9);
  EXPECT_LT(study({bags}).unique_rows, fixed.unique_rows);
}

TEST(Embeddings, NeedARecommendationModel) {
  const auto result = study_embeddings(configs::load(std::string(configs::kTinyModel) +
                                                     "training: {global_batch: 8}\n"
                                                     "cluster: {nodes: 1, node: {preset: dgx-a100}}\n"));
  ASSERT_FALSE(result);
  EXPECT_THAT(render(result.error()), HasSubstr("E554"));
}

}  // namespace
}  // namespace ringwright::planning::embeddings_test
