// A table of measurements as CSV: `# key: value` lines at the head, a line of column names, rows whose cells have a
// line and column. Cells may be quoted ("a ""quoted"" word, with a comma"); a row is one line.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

struct CsvCell {
  std::string text;
  int column = 1;  // of its first character in the line
};

struct CsvRow {
  int line = 0;
  std::string raw;
  std::vector<CsvCell> cells;  // as many as there are columns
};

struct CsvHeaderLine {
  std::string key;
  std::string value;
};

struct CsvTable {
  std::string file;
  std::vector<CsvHeaderLine> header;
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;
  CsvRow names;  // the line of the columns

  // Of a column's name.
  [[nodiscard]] Place place_of_column(std::size_t column) const {
    return {.file = file, .line = names.line, .column = names.cells[column].column};
  }

  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const;
};

// The columns of these names; an error of that code for each that is missing.
[[nodiscard]] Result<std::vector<std::size_t>> columns_of(const CsvTable& table,
                                                          std::span<const std::string_view> names,
                                                          std::string_view code);

[[nodiscard]] Result<CsvTable> read_csv(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<CsvTable> parse_csv(const std::string& name, std::string_view text);

}  // namespace ringwright::validation
