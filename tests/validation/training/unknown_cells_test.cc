#include "validation/training/unknown_cells.h"

#include <gtest/gtest.h>

#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::unknown_cells_test {
namespace {

TEST(UnknownCells, EveryColumnOfWordsIsChecked) {
  TrainingRow row;
  row.precision = row.recompute = row.sharding = row.overlap = row.schedule = row.split = "gibberish";
  std::vector<std::string> columns;
  for (const UnknownCell& cell : unknown_cells(row, {})) columns.emplace_back(cell.column);
  const std::vector<std::string> all = {"precision", "recompute", "dp_sharding", "overlap", "schedule", "split"};
  EXPECT_EQ(columns, all);
}

TEST(UnknownCells, EmptyAndKnownCellsAreNone) {
  const auto vocabulary = read_vocabulary(shipped_folder("training") + "/words.yaml");
  ASSERT_TRUE(vocabulary) << render(vocabulary.error());
  TrainingRow row;
  row.precision = "BF16";
  row.recompute = "not stated";
  row.sharding = "see run script";
  row.split = "exclude";
  EXPECT_TRUE(unknown_cells(row, *vocabulary).empty());
}

TEST(UnknownCells, RowsOfShippedTablesHaveNone) {
  const auto vocabulary = read_vocabulary(shipped_folder("training") + "/words.yaml");
  ASSERT_TRUE(vocabulary) << render(vocabulary.error());
  for (const std::string& file : files_in(shipped_folder("training"), ".csv")) {
    const auto table = read_csv(file).and_then([](const CsvTable& csv) { return read_training_rows(csv); });
    ASSERT_TRUE(table) << render(table.error());
    for (const TrainingRow& row : table->rows) {
      if (!row.scored()) continue;
      for (const UnknownCell& cell : unknown_cells(row, *vocabulary)) {
        ADD_FAILURE() << row.id << ", " << cell.column << ": " << cell.text;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::validation::unknown_cells_test
