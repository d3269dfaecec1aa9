#include "validation/training/cases.h"

#include <cmath>

#include <gtest/gtest.h>

#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::cases_test {
namespace {

class TrainingCases : public ::testing::Test {
 protected:
  void SetUp() override {
    auto conventions = read_conventions(shipped_folder("training"));
    ASSERT_TRUE(conventions) << render(conventions.error());
    conventions_ = *conventions;
    const auto table =
        read_csv(shipped_folder("training") + "/korthikanti_recompute.csv").and_then([](const CsvTable& csv) {
          return read_training_rows(csv);
        });
    ASSERT_TRUE(table) << render(table.error());
    rows_ = table->rows;
  }

  TrainingConventions conventions_;
  std::vector<TrainingRow> rows_;
};

TEST_F(TrainingCases, PlaysARowAndTellsWhereTheTimeGoes) {
  const auto played = play_rows({rows_[0]}, conventions_, {});
  ASSERT_EQ(played.size(), 1U);
  ASSERT_TRUE(played[0].played()) << played[0].reason;
  EXPECT_EQ(played[0].measured_as, MeasuredAs::kStepTime);
  EXPECT_DOUBLE_EQ(played[0].measured_seconds, 1.42);
  EXPECT_GT(played[0].predicted_seconds, 0.5);
  EXPECT_LT(played[0].predicted_seconds, 3.0);
  double sum = 0.0;
  for (const TermSeconds& term : played[0].terms) sum += term.seconds;
  EXPECT_NEAR(sum, played[0].predicted_seconds, 1e-6 * sum);
}

TEST_F(TrainingCases, RowsOfOneScenarioShareItsPrediction) {
  TrainingRow twin = rows_[0];
  twin.step_seconds = 2.0;
  const auto played = play_rows({rows_[0], twin}, conventions_, {});
  EXPECT_EQ(played[0].predicted_seconds, played[1].predicted_seconds);
  EXPECT_NE(played[0].measured_seconds, played[1].measured_seconds);
}

TEST_F(TrainingCases, TokensGiveTheTimeWhereNoneIsPrinted) {
  TrainingRow row = rows_[0];
  row.step_seconds.reset();
  row.tokens_per_gpu = 721.1;  // 4 sequences of 2048 tokens on 8 GPUs in 1.42 s
  const auto played = play_rows({row}, conventions_, {});
  EXPECT_EQ(played[0].measured_as, MeasuredAs::kTokens);
  EXPECT_NEAR(played[0].measured_seconds, 1.42, 0.001);
}

TEST_F(TrainingCases, MoreThanThePeakIsAContradictionOfTheSource) {
  rows_[0].step_seconds = 0.1;  // a fourteenth of what was measured, at 32 % of the peak
  const auto played = play_rows({rows_[0]}, conventions_, {});
  EXPECT_NE(played[0].reason.find("contradicts itself"), std::string::npos);
}

TEST_F(TrainingCases, AMicroBatchThatNobodySaysIsTheFastestThatFits) {
  TrainingRow row = rows_[0];  // 4 sequences, all at once: larger GEMMs, and one optimizer step in any case
  row.micro_batch.reset();
  row.accumulation.reset();
  const auto played = play_rows({rows_[0], row}, conventions_, {});
  EXPECT_DOUBLE_EQ(played[1].predicted_seconds, played[0].predicted_seconds);
  ASSERT_FALSE(played[1].assumed.empty());
  EXPECT_EQ(played[1].assumed.back(), "4 sequences a microbatch, the fastest that fits");
}

TEST_F(TrainingCases, OnlyMicroBatchesThatAreFastByFormulasAreSimulated) {
  TrainingRow row = rows_[0];  // one, two or four sequences; one takes a tenth longer than four
  row.micro_batch.reset();
  row.accumulation.reset();
  std::size_t simulated = 0;
  const auto played = play_rows({row}, conventions_, {.progress = [&](std::size_t, std::size_t all) {
                                  ++simulated;
                                  EXPECT_LT(all, 3U);
                                }});
  EXPECT_GE(simulated, 1U);
  EXPECT_TRUE(played[0].played());
}

TEST_F(TrainingCases, AllMicroBatchesAreSimulatedWhereFormulasPredictNone) {
  TrainingRow row = rows_[0];
  row.micro_batch.reset();
  row.accumulation.reset();
  std::size_t simulated = 0;
  const auto played = play_rows({row}, conventions_,
                                {.overrides = {"parallel.tp=7"},  // refused, formulas or not
                                 .progress = [&](std::size_t, std::size_t) { ++simulated; }});
  EXPECT_EQ(simulated, 3U);
  EXPECT_FALSE(played[0].played());
}

TEST_F(TrainingCases, ExcludedRowsAreLeftOut) {
  rows_[0].split = "exclude";
  EXPECT_TRUE(play_rows({rows_[0]}, conventions_, {}).empty());
}

TEST_F(TrainingCases, RowsOfTooManyGpusWaitForARunOfTheirOwn) {
  conventions_.sources = {
      {.name = "korthikanti_recompute", .stack = "megatron-2022.yaml", .most_gpus = 4}};  // it has 8
  const auto left_out = play_rows({rows_[0]}, conventions_, {.large = LargeRows::kLeftOut});
  EXPECT_EQ(left_out[0].reason, "more than 4 GPUs: simulated when the table is given as a file");
  EXPECT_TRUE(play_rows({rows_[0]}, conventions_, {})[0].played());
}

TEST_F(TrainingCases, OverridesHoldForEveryRow) {
  const auto fast = play_rows({rows_[0]}, conventions_, {.overrides = {}});
  const auto slow = play_rows({rows_[0]}, conventions_, {.overrides = {"cluster.node.nvlink.bandwidth=30GB/s"}});
  EXPECT_GT(slow[0].predicted_seconds, fast[0].predicted_seconds);
}

TEST_F(TrainingCases, AScenarioThatIsRefusedIsAReason) {
  const auto played = play_rows({rows_[0]}, conventions_, {.overrides = {"parallel.tp=7"}});
  EXPECT_FALSE(played[0].played());
  EXPECT_NE(played[0].reason.find("7"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::validation::cases_test
