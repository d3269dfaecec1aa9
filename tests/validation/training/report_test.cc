#include "validation/training/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two rows, one 10 % too slow, the other without a preset.
struct Sample {
  Sample() {
    conventions.sources.push_back({.name = "korth", .title = "Korthikanti", .target = 0.04});
    PlayedRow good{.row = {}, .source = "korth"};
    good.row.id = "korth-1";
    good.row.model = "gpt3-175b";
    good.row.gpus = 64;
    good.measured_as = MeasuredAs::kStepTime;
    good.measured_seconds = 10.0;
    good.predicted_seconds = 11.0;
    good.tokens = 1.0;
    good.terms = {{"compute", 8.8}, {"tp", 2.2}};
    good.assumed = {"one \"sequence\""};
    PlayedRow refused{.row = {}, .source = "korth", .reason = "there is no preset for the GPU 'TPU'"};
    refused.row.id = "korth-2";
    rows = {good, refused};
    scores = score(rows, conventions, std::nullopt);
  }
  [[nodiscard]] TrainingTables tables() const { return {.rows = rows, .scores = scores, .unused_columns = {"colour"}}; }

  TrainingConventions conventions;
  std::vector<PlayedRow> rows;
  std::vector<SourceScore> scores;
};

TEST(TrainingReport, TextHasErrorsTermsAndReasons) {
  const std::string text = training_text(Sample().tables(), RowDetail::kAll);
  EXPECT_THAT(text, HasSubstr("10.0 %"));
  EXPECT_THAT(text, HasSubstr("+10.0 %"));
  EXPECT_THAT(text, HasSubstr("compute 80%, tp 20%"));
  EXPECT_THAT(text, HasSubstr("1 not simulated: there is no preset for the GPU 'TPU'"));
  EXPECT_THAT(text, HasSubstr("columns that have no effect: colour"));
  EXPECT_THAT(text, HasSubstr("  assumed of korth-1: one \"sequence\"\n"));
  EXPECT_THAT(training_text(Sample().tables(), RowDetail::kWorst), Not(HasSubstr("assumed")));
}

TEST(TrainingReport, TextHasAnAssumptionOfSeveralRowsOnce) {
  Sample sample;
  sample.rows[1] = sample.rows[0];
  EXPECT_THAT(training_text(sample.tables(), RowDetail::kAll), HasSubstr("  assumed of 2 rows: one \"sequence\"\n"));
}

TEST(TrainingReport, JsonNamesEveryRow) {
  const std::string json = training_json(Sample().tables());
  EXPECT_THAT(json, HasSubstr("\"schema\": \"ringwright.validation.training/1\""));
  EXPECT_THAT(json, HasSubstr("\"error\": 0.100000"));
  EXPECT_THAT(json, HasSubstr("\"terms_s\": {\"compute\": 8.8, \"tp\": 2.2}"));
  EXPECT_THAT(json, HasSubstr("\"assumed\": [\"one \\\"sequence\\\"\"]"));
  EXPECT_THAT(json, HasSubstr("\"not_simulated\": \"there is no preset for the GPU 'TPU'\""));
}

TEST(TrainingReport, MarkdownIsATable) {
  const std::string page = training_markdown(Sample().tables());
  EXPECT_THAT(page, HasSubstr("| Korthikanti | 2 | 1 | 10.0 % | +10.0 % |"));
  EXPECT_THAT(page, HasSubstr("| korth-1 | gpt3-175b |"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace ringwright::validation::report_test
