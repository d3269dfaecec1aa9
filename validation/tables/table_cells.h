// Cells of a table of measurements as numbers and words, with file, line and column for every mistake.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "validation/tables/csv_table.h"

namespace ringwright::validation {

// One value of an enum by its name in a table.
template <class Value>
struct TableWord {
  std::string_view name;
  Value value;
};

// Keys that the head of every table from a GPU may have (docs/kernel-tables.md).
inline constexpr std::array<std::string_view, 14> kMeasuredHeader{"gpu",    "source", "evidence", "device",    "clocks",
                                                                  "power",  "driver", "cuda",     "libraries", "date",
                                                                  "method", "note",   "address",  "licence"};

class TableCells {
 public:
  struct Format {
    std::string_view of;  // "kernels"
    std::span<const std::string_view> header;   // keys that the head may have
    std::span<const std::string_view> columns;  // that the table may have
    std::span<const std::string_view> needed;   // of them: in every row
    std::string_view page;                      // that describes the format
  };
  // Both must outlive this. Head and columns are checked at once.
  TableCells(const CsvTable& csv, const Format& format);

  // The value of a key of the head that must be there.
  [[nodiscard]] std::string head(std::string_view key, std::string_view missing, std::string_view hint);
  [[nodiscard]] std::string gpu() {
    return head("gpu", "the table does not name its GPU", "add `# gpu: h100-sxm5-80gb`");
  }
  [[nodiscard]] std::string source() {
    return head("source", "the table does not name the source of its times", "add `# source: who, where`");
  }
  // Refuses a row with a missing cell.
  void check_row(const CsvRow& row);

  // Null when the table has no such column or the cell is empty.
  [[nodiscard]] const CsvCell* cell(const CsvRow& row, std::string_view column) const;
  [[nodiscard]] std::string text(const CsvRow& row, std::string_view column) const;
  // "a=1;b=2". A value may hold commas, but no semicolon.
  [[nodiscard]] std::vector<std::string> settings(const CsvRow& row, std::string_view column) const;
  // `fallback` where nothing is given.
  [[nodiscard]] double number(const CsvRow& row, std::string_view column, double fallback, double least);
  [[nodiscard]] std::int64_t whole(const CsvRow& row, std::string_view column, std::int64_t fallback);
  template <class Value, class Words>
  [[nodiscard]] Value word(const CsvRow& row, std::string_view column, Value fallback, const Words& words) {
    const CsvCell* const found = cell(row, column);
    if (found == nullptr) return fallback;
    std::vector<std::string> names;
    for (const TableWord<Value>& candidate : words) {
      if (candidate.name == found->text) return candidate.value;
      names.emplace_back(candidate.name);
    }
    refuse_word(row, column, found->text, names);
    return fallback;
  }

  void refuse_cell(const CsvRow& row, std::string_view column, std::string message, std::string hint = {});
  void refuse(Place place, std::string message, std::string excerpt = {}, std::string hint = {});
  [[nodiscard]] Diagnostics& problems() { return problems_; }

 private:
  void check_names();
  void refuse_word(const CsvRow& row, std::string_view column, const std::string& word,
                   const std::vector<std::string>& names);

  const CsvTable& csv_;
  Format format_;
  Diagnostics problems_;
};

// A table that names its GPU and its source and has rows. `read_row` adds each row to the table.
template <class Table, class ReadRow>
[[nodiscard]] Result<Table> read_measured(const Result<CsvTable>& csv, const TableCells::Format& format,
                                          const ReadRow& read_row) {
  if (!csv) return tl::unexpected(csv.error());
  TableCells cells(*csv, format);
  Table table{.file = csv->file, .gpu = cells.gpu(), .source = cells.source(), .rows = {}};
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  for (const CsvRow& row : csv->rows) read_row(cells, row, table);
  if (table.rows.empty())
    cells.refuse({.file = csv->file}, fmt::format("there is no row of {} in this table", format.of));
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  return table;
}

}  // namespace ringwright::validation
