#include "validation/tables/csv_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/user_file.h"
#include "core/config/text_lines.h"

namespace ringwright::validation {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostColumns = 1'000;

class CsvParser {
 public:
  explicit CsvParser(std::string name) { table_.file = std::move(name); }

  // False: there are too many, and the rest need not be read.
  bool more() {
    if (table_.rows.size() < kMostRows) return true;
    refuse({}, 1, fmt::format("the table has more than {} rows", kMostRows), "split it");
    return false;
  }

  void line(std::string_view text) {
    ++line_;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (trimmed(text).empty()) return;
    if (text.front() == '#') return head(text.substr(1));
    std::vector<CsvCell> cells;
    if (!split(text, cells)) return;
    if (table_.columns.empty()) return name_columns(text, cells);
    if (cells.size() != table_.columns.size()) {
      return refuse(
          text, 1,
          fmt::format("this row has {} cells, but the table has {} columns", cells.size(), table_.columns.size()),
          "a cell with a comma needs quotes around it");
    }
    table_.rows.push_back({.line = line_, .raw = std::string(text), .cells = std::move(cells)});
  }

  Result<CsvTable> finish() {
    if (table_.columns.empty()) {
      problems_.add({.code = "E160", .place = {.file = table_.file}, .message = "there is no line of column names"});
    }
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(table_);
  }

 private:
  void head(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;  // a remark
    table_.header.push_back({.key = trimmed(text.substr(0, colon)), .value = trimmed(text.substr(colon + 1))});
  }

  void refuse(std::string_view excerpt, std::size_t column, std::string message, std::string hint = {}) {
    problems_.add({.code = "E160",
                   .place = {.file = table_.file, .line = line_, .column = static_cast<int>(column)},
                   .message = std::move(message),
                   .excerpt = std::string(excerpt.substr(0, 160)),
                   .hint = std::move(hint)});
  }

  bool split(std::string_view text, std::vector<CsvCell>& cells) {
    std::size_t at = 0;
    while (true) {
      CsvCell cell{.text = {}, .column = static_cast<int>(at) + 1};
      if (at < text.size() && text[at] == '"') {
        if (!quoted(text, at, cell.text)) return false;
      } else {
        const std::size_t end = std::min(text.find(',', at), text.size());
        cell.text = trimmed(text.substr(at, end - at));
        at = end;
      }
      cells.push_back(std::move(cell));
      if (cells.size() > kMostColumns) {
        refuse(text, 1, fmt::format("this row has more than {} columns", kMostColumns));
        return false;
      }
      if (at == text.size()) return true;
      ++at;  // the comma
    }
  }

  // From the opening quote to the comma after the closing one, or to the end.
  bool quoted(std::string_view text, std::size_t& at, std::string& cell) {
    const std::size_t open = at++;
    while (at < text.size() && (text[at] != '"' || (at + 1 < text.size() && text[at + 1] == '"'))) {
      if (text[at] == '"') ++at;
      cell += text[at++];
    }
    if (at >= text.size()) {
      refuse(text, open + 1, "this quote is not closed on its line");
      return false;
    }
    if (++at < text.size() && text[at] != ',') {
      refuse(text, at + 1, "there is text after a closing quote", "write a quote inside a cell twice");
      return false;
    }
    return true;
  }

  void name_columns(std::string_view text, const std::vector<CsvCell>& cells) {
    for (const CsvCell& cell : cells) {
      if (cell.text.empty() || std::ranges::find(table_.columns, cell.text) != table_.columns.end()) {
        refuse(text, static_cast<std::size_t>(cell.column),
               cell.text.empty() ? "a column has no name" : fmt::format("two columns are called '{}'", cell.text));
      }
      table_.columns.push_back(cell.text);
    }
    table_.names = {.line = line_, .raw = std::string(text), .cells = cells};
  }

  CsvTable table_;
  Diagnostics problems_;
  int line_ = 0;
};

}  // namespace

std::optional<std::size_t> CsvTable::find_column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Result<CsvTable> parse_csv(const std::string& name, std::string_view text) {
  if (is_utf16(text)) {
    return tl::unexpected(failure("E160", fmt::format("this table cannot be read: {}", kUtf16Refused), {.file = name}));
  }
  CsvParser parser(name);
  text = without_byte_order_mark(text);  // Excel writes one
  while (!text.empty() && parser.more()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

Result<CsvTable> read_csv(const std::string& path) {
  const auto text = read_user_file(path);
  if (!text) return tl::unexpected(failure("E160", "this table cannot be read: " + text.error(), {.file = path}));
  if (text->empty()) return tl::unexpected(failure("E160", "this table is empty", {.file = path}));
  return parse_csv(path, *text);
}

Result<std::vector<std::size_t>> columns_of(const CsvTable& table, std::span<const std::string_view> names,
                                            std::string_view code) {
  Diagnostics problems;
  std::vector<std::size_t> columns;
  for (const std::string_view name : names) {
    const auto column = table.find_column(name);
    if (column) {
      columns.push_back(*column);
      continue;
    }
    problems.add({.code = std::string(code),
                  .place = {.file = table.file},
                  .message = fmt::format("'{}' has no column '{}'", table.file, name)});
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return columns;
}

}  // namespace ringwright::validation
