#include "validation/training/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::row_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<TrainingTable> read(const std::string& text) {
  return parse_csv("runs.csv", text).and_then([](const CsvTable& csv) { return read_training_rows(csv); });
}

TEST(TrainingRow, ReadsTheSharedSchema) {
  const auto table = read(
      "id,model,gpu,n_gpus,tp,mbs,step_time_s,mem_gib,split\n"
      "korth-001,gpt3-175b,A100,64,8,1 (assumed),13.75,61.5,open\n");
  ASSERT_TRUE(table) << render(table.error());
  const TrainingRow& row = table->rows[0];
  EXPECT_EQ(row.source(), "korth");
  EXPECT_EQ(row.gpus, 64);
  EXPECT_EQ(row.micro_batch, 1);  // a remark in brackets may follow
  EXPECT_DOUBLE_EQ(*row.step_seconds, 13.75);
  EXPECT_DOUBLE_EQ(*row.memory_gib, 61.5);
  EXPECT_FALSE(row.pp) << "a column that is not there is not 1";
  EXPECT_TRUE(row.scored());
}

TEST(TrainingRow, WordsForANumberAreARemark) {
  const auto table = read("id,model,gpu,n_gpus,mbs,vpp\na-1,m,A100,8,tuned (not printed),not stated\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_FALSE(table->rows[0].micro_batch);
  EXPECT_THAT(table->rows[0].remarks, ElementsAre("vpp: not stated", "mbs: tuned (not printed)"));
  EXPECT_TRUE(table->rows[0].tuned_parts);
}

TEST(TrainingRow, WholeNumbersOfSpreadsheetsAndDashesAreRead) {
  const auto table = read("id,model,gpu,n_gpus,tp,pp\na-1,m,A100,8.0,-,2\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->rows[0].gpus, 8);
  EXPECT_FALSE(table->rows[0].tp);
  EXPECT_FALSE(read("id,model,gpu,n_gpus\na-1,m,A100,8.5\n"));
}

TEST(TrainingRow, ABrokenNumberIsAnErrorWithItsPlaceAndColumn) {
  const auto table = read("id,model,gpu,n_gpus,tp\na-1,m,A100,8,4x\na-2,m,A100,-8,4\n");
  ASSERT_FALSE(table);
  const std::string text = render(table.error());
  EXPECT_THAT(text, HasSubstr("runs.csv:2:14: error[E161]: column 'tp' holds '4x'"));
  EXPECT_THAT(text, HasSubstr("runs.csv:3:12: error[E161]: column 'n_gpus' holds '-8'"));
}

TEST(TrainingRow, NumbersHaveARange) {
  for (const char* number : {"nan", "NaN", "inf", "-inf", "1e999", "1e300"}) {
    const auto table = read(std::string("id,model,gpu,n_gpus,step_time_s\na-1,m,A100,8,") + number + "\n");
    EXPECT_FALSE(table) << number;
  }
  EXPECT_FALSE(read("id,model,gpu,n_gpus\na-1,m,A100,0\n"));
  EXPECT_TRUE(read("id,model,gpu,n_gpus,sp\na-1,m,A100,8,0\n"));
}

TEST(TrainingRow, AnUnknownColumnIsReportedWithItsPlace) {
  const auto table = read("# source: ours\nid,model,gpu,n_gpus,step_time,mfu_pct\na-1,m,A100,8,1,40\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_THAT(render(table->warnings), HasSubstr("runs.csv:2:21: warning[W164]: column 'step_time'"));
  EXPECT_THAT(render(table->warnings), HasSubstr("did you mean 'step_time_s'?"));
  EXPECT_EQ(table->warnings.all().size(), 1U);  // mfu_pct is for people
}

TEST(TrainingRow, UnknownColumnsAreReportedTogether) {
  const auto table = read("id,model,gpu,n_gpus,colour,step_time,taste\na-1,m,A100,8,blue,1,sour\n");
  ASSERT_TRUE(table) << render(table.error());
  ASSERT_EQ(table->warnings.all().size(), 2U);
  EXPECT_THAT(render(table->warnings), HasSubstr("columns 'colour', 'taste' are not known and have no effect"));
}

TEST(TrainingRow, ColumnsThatAreNeededAreNamed) {
  const auto table = read("id,model\na-1,m\n");
  ASSERT_FALSE(table);
  EXPECT_THAT(render(table.error()), HasSubstr("there is no column 'n_gpus'"));
}

TEST(TrainingRow, UnknownColumnsAreListed) {
  const auto table = read("id,model,gpu,n_gpus,colour\na-1,m,A100,8,blue\n");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->unused_columns, ElementsAre("colour"));
}

TEST(TrainingRow, ExcludedRowsAreNotScored) {
  const auto table = read("id,model,gpu,n_gpus,split\na-1,m,A100,8,exclude\n");
  ASSERT_TRUE(table);
  EXPECT_FALSE(table->rows[0].scored());
}

}  // namespace
}  // namespace ringwright::validation::row_test
