#include "validation/training/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::causes_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PlayedRow row_of(double predicted, double tensor) {
  PlayedRow row{.row = {}, .source = "runs"};
  row.measured_as = MeasuredAs::kStepTime;
  row.measured_seconds = 10.0;
  row.predicted_seconds = predicted;
  row.tokens = 1.0;
  row.terms = {{"compute", predicted - tensor}, {"tp", tensor}, {"pp", 0.0}};
  return row;
}

std::string page_of(double target) {
  TrainingConventions conventions;
  conventions.sources.push_back(
      {.name = "runs", .title = "Runs", .target = target, .causes = {"the cards are not stated"}});
  // With half of the time in tp 20 % too fast, with none of it exact, in between 5 %.
  const std::vector<PlayedRow> rows = {row_of(8.0, 4.0), row_of(10.0, 0.0), row_of(9.5, 1.9)};
  const std::vector<SourceScore> scores = score(rows, conventions, std::nullopt);
  return causes_markdown({.rows = rows, .scores = scores, .unused_columns = {}});
}

TEST(TrainingCauses, ErrorsAreSplitByTheWeightOfATerm) {
  const std::string page = page_of(0.05);
  EXPECT_THAT(page, HasSubstr("### Runs: 8.3 % for 5.0 %"));  // (20 + 0 + 5) / 3
  EXPECT_THAT(page, HasSubstr("| tp | 23 % | -20.0 % | +0.0 % |"));
  EXPECT_THAT(page, HasSubstr("| compute | 77 % | +0.0 % | -20.0 % |"));
  EXPECT_THAT(page, HasSubstr("* the cards are not stated"));
  EXPECT_THAT(page, Not(HasSubstr("| pp |")));
}

TEST(TrainingCauses, ARankingMayMissItsTargetWhereTimesDoNot) {
  SourceScore score{.name = "runs", .title = "Sweep", .tau = 0.5, .target_tau = 0.8};
  score.time.count = 1;
  const std::vector<PlayedRow> rows = {row_of(10.0, 4.0)};
  const std::vector<SourceScore> scores = {score};
  EXPECT_THAT(causes_markdown({.rows = rows, .scores = scores, .unused_columns = {}}),
              HasSubstr("### Sweep: ranks by 0.50 for 0.80"));
}

TEST(TrainingCauses, MemoryMayMissItsTargetWhereTimesDoNot) {
  SourceScore score{.name = "runs", .title = "Runs", .memory_target = 0.05, .causes = {"the allocator's settings"}};
  score.time.count = 1;
  score.memory = {.count = 1, .mean_abs = 0.11};
  EXPECT_TRUE(score.misses_any());
  const std::vector<PlayedRow> rows = {row_of(10.0, 4.0)};
  const std::vector<SourceScore> scores = {score};
  const std::string page = causes_markdown({.rows = rows, .scores = scores, .unused_columns = {}});
  EXPECT_THAT(page, HasSubstr("### Runs: memory 11.0 % for 5.0 %\n\n* the allocator's settings\n"));
  EXPECT_THAT(page, Not(HasSubstr("| compute |")));  // terms of the time explain nothing
}

TEST(TrainingCauses, FindingsAboutRowsAreReportedWhetherATargetIsMetOrNot) {
  const std::vector<SourceScore> silent = {{.name = "others", .title = "Others"}};
  EXPECT_THAT(remarks_markdown({.rows = {}, .scores = silent, .unused_columns = {}}), IsEmpty());
  const std::vector<SourceScore> scores = {silent[0],
                                           {.name = "runs", .title = "Runs", .remarks = {"its rows are sums"}}};
  EXPECT_EQ(remarks_markdown({.rows = {}, .scores = scores, .unused_columns = {}}),
            "\n## Findings about rows\n\n### Runs\n\n* its rows are sums\n");
}

TEST(TrainingCauses, ATargetThatIsMetNeedsNone) {
  EXPECT_THAT(page_of(0.1), IsEmpty());
}

}  // namespace
}  // namespace ringwright::validation::causes_test
