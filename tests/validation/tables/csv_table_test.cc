#include "validation/tables/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::csv_table_test {
namespace {

using ::testing::HasSubstr;

std::string errors_of(std::string_view text) {
  const auto table = parse_csv("t.csv", text);
  return table ? std::string("no error") : render(table.error());
}

TEST(CsvTable, ReadsHeaderColumnsAndRows) {
  const auto table = parse_csv("t.csv", "# source: a paper: table 1\n# a remark\n\nid,time\na,1.5\nb,2\n");
  ASSERT_TRUE(table) << render(table.error());
  ASSERT_EQ(table->header.size(), 1U);
  EXPECT_EQ(table->header[0].key, "source");
  EXPECT_EQ(table->header[0].value, "a paper: table 1");
  EXPECT_EQ(table->find_column("time"), 1U);
  EXPECT_FALSE(table->find_column("speed"));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[1].line, 6);
  EXPECT_EQ(table->rows[1].cells[1].text, "2");
  EXPECT_EQ(table->rows[1].cells[1].column, 3);
}

TEST(CsvTable, Utf16IsRefusedByItsName) {
  EXPECT_THAT(errors_of(std::string_view("\xFF\xFEi\0d\0\n\0", 8)), HasSubstr("it is UTF-16; save it as UTF-8"));
}

TEST(CsvTable, TakesQuotedCellsApart) {
  const auto table = parse_csv("t.csv", "id,note,last\na,\"x, \"\"y\"\"\",z\r\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->rows[0].cells[1].text, "x, \"y\"");
  EXPECT_EQ(table->rows[0].cells[2].text, "z");
}

TEST(CsvTable, AnEmptyCellIsACell) {
  const auto table = parse_csv("t.csv", "a,b,c\n,,\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->rows[0].cells.size(), 3U);
  EXPECT_EQ(table->rows[0].cells[2].text, "");
}

TEST(CsvTable, NamesThePlaceOfARowWithTooFewCells) {
  EXPECT_THAT(errors_of("a,b\n1\n"), HasSubstr("t.csv:2:1: error[E160]: this row has 1 cells, but the table has 2"));
}

TEST(CsvTable, RefusesAnOpenQuote) {
  EXPECT_THAT(errors_of("a,b\n1,\"x\n"), HasSubstr("t.csv:2:3: error[E160]: this quote"));
}

TEST(CsvTable, RefusesTextBehindAQuote) {
  EXPECT_THAT(errors_of("a\n\"x\"y\n"), HasSubstr("text after a closing quote"));
}

TEST(CsvTable, RefusesTwoColumnsOfOneName) {
  EXPECT_THAT(errors_of("a,a\n"), HasSubstr("two columns are called 'a'"));
}

TEST(CsvTable, RefusesATableWithoutColumns) {
  EXPECT_THAT(errors_of("# only: this\n"), HasSubstr("no line of column names"));
}

TEST(CsvTable, AllMistakesComeAtOnce) {
  EXPECT_THAT(errors_of("a,b\n1\n2\n"), HasSubstr("2 errors"));
}

TEST(CsvTable, RefusesAFileThatIsNotThere) {
  const auto table = read_csv("no-such-file.csv");
  ASSERT_FALSE(table);
  EXPECT_THAT(render(table.error()), HasSubstr("no-such-file.csv"));
}

TEST(CsvTable, OneThatIsTooLargeIsRefused) {
  EXPECT_THAT(errors_of("a\n" + std::string(1'001, ',')), HasSubstr("more than 1000 columns"));
  std::string rows = "a\n";
  for (int row = 0; row < 100'001; ++row) rows += "1\n";
  EXPECT_THAT(errors_of(rows), HasSubstr("more than 100000 rows"));
}

TEST(CsvTable, TakesTheByteOrderMarkOfExcel) {
  const auto table = parse_csv("t.csv", "\xEF\xBB\xBFid,time\r\na,1\r\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->find_column("id"), 0U);
}

}  // namespace
}  // namespace ringwright::validation::csv_table_test
