#include "validation/training/score.h"

#include <gtest/gtest.h>

namespace ringwright::validation::score_test {
namespace {

PlayedRow played(double predicted, double measured) {
  PlayedRow row{.row = {}, .source = "vtrain"};
  row.row.model = "gpt";
  row.measured_as = MeasuredAs::kStepTime;
  row.predicted_seconds = predicted;
  row.measured_seconds = measured;
  row.tokens = 1000.0;
  return row;
}

TrainingConventions conventions() {
  TrainingConventions result;
  result.sources.push_back({.name = "vtrain", .title = "vTrain", .target = 0.08, .threshold = 0.10});
  return result;
}

TEST(TrainingScore, AveragesErrorsOfSimulatedRows) {
  std::vector<PlayedRow> rows = {played(1.1, 1.0), played(0.9, 1.0), played(0.0, 0.0)};
  rows[2].reason = "no preset";
  const auto scores = score(rows, conventions(), std::nullopt);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].rows, 3U);
  EXPECT_EQ(scores[0].time.count, 2U);
  EXPECT_NEAR(scores[0].time.mean_abs, 0.1, 1e-12);
  EXPECT_NEAR(scores[0].time.mean_error, 0.0, 1e-12);
  EXPECT_EQ(scores[0].reasons.at("no preset"), 1U);
}

TEST(TrainingScore, RanksInsideSweepsOfOneModelOnOneMachine) {
  std::vector<PlayedRow> rows = {played(1.0, 1.0), played(2.0, 2.0), played(3.0, 3.0)};
  EXPECT_NEAR(*score(rows, conventions(), std::nullopt)[0].tau, 1.0, 1e-12);
  rows[2].row.model = "llama";  // two of one model are no sweep
  EXPECT_FALSE(score(rows, conventions(), std::nullopt)[0].tau);
}

TEST(TrainingScore, TheThresholdDecidesAndCanBeGiven) {
  const std::vector<PlayedRow> rows = {played(1.09, 1.0)};
  EXPECT_TRUE(score(rows, conventions(), std::nullopt)[0].passed());
  EXPECT_FALSE(score(rows, conventions(), 0.05)[0].passed());
}

TEST(TrainingScore, MemoryIsScoredWhereItWasMeasured) {
  std::vector<PlayedRow> rows = {played(1.0, 1.0), played(1.0, 1.0)};
  rows[0].measured_gib = 50.0;
  rows[0].predicted_gib = 49.0;
  const auto scores = score(rows, conventions(), std::nullopt);
  EXPECT_EQ(scores[0].memory.count, 1U);
  EXPECT_NEAR(scores[0].memory.mean_error, -0.02, 1e-12);
}

TEST(TrainingScore, RunsThatAreNotPredictedToFitAreCounted) {
  std::vector<PlayedRow> rows = {played(1.0, 1.0), played(1.0, 1.0), played(1.0, 1.0)};
  rows[0].shortage = "stage 0 needs 90 GiB of 80 GiB";
  rows[1].shortage = "stage 0 needs 90 GiB of 80 GiB";
  rows[1].reason = "no preset";
  EXPECT_EQ(score(rows, conventions(), std::nullopt)[0].too_large, 1U);
}

}  // namespace
}  // namespace ringwright::validation::score_test
