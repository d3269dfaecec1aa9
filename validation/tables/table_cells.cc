#include "validation/tables/table_cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::validation {
namespace {

constexpr double kMostInCell = 1e30;

std::string nearest_of(std::string_view word, const std::vector<std::string>& names) {
  const std::string near = nearest_name(word, names);
  return near.empty() ? "names: " + join(names, ", ") : "did you mean '" + near + "'?";
}

std::vector<std::string> as_strings(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

}  // namespace

TableCells::TableCells(const CsvTable& csv, const Format& format) : csv_(csv), format_(format) { check_names(); }

void TableCells::refuse(Place place, std::string message, std::string excerpt, std::string hint) {
  problems_.add({.code = "E163",
                 .place = std::move(place),
                 .message = std::move(message),
                 .excerpt = std::move(excerpt),
                 .hint = std::move(hint)});
}

void TableCells::check_names() {
  for (const CsvHeaderLine& line : csv_.header) {
    if (std::ranges::find(format_.header, line.key) != format_.header.end()) continue;
    refuse({.file = csv_.file}, fmt::format("the head of this table has an unknown key '{}'", line.key), "",
           nearest_of(line.key, as_strings(format_.header)));
  }
  for (std::size_t i = 0; i < csv_.columns.size(); ++i) {
    const std::string& column = csv_.columns[i];
    if (std::ranges::find(format_.columns, column) != format_.columns.end()) continue;
    refuse(csv_.place_of_column(i), fmt::format("column '{}' is not part of a table of {}", column, format_.of),
           csv_.names.raw, nearest_of(column, as_strings(format_.columns)));
  }
  for (const std::string_view needed : format_.needed) {
    if (csv_.find_column(needed)) continue;
    refuse({.file = csv_.file}, fmt::format("there is no column '{}'", needed), "",
           fmt::format("see {}", format_.page));
  }
}

std::string TableCells::head(std::string_view key, std::string_view missing, std::string_view hint) {
  const auto line = std::ranges::find(csv_.header, key, &CsvHeaderLine::key);
  if (line != csv_.header.end() && !line->value.empty()) return line->value;
  refuse({.file = csv_.file}, std::string(missing), "", std::string(hint));
  return {};
}

void TableCells::check_row(const CsvRow& row) {
  for (const std::string_view needed : format_.needed) {
    if (cell(row, needed) == nullptr) refuse_cell(row, needed, fmt::format("{} is missing", needed));
  }
}

const CsvCell* TableCells::cell(const CsvRow& row, std::string_view column) const {
  const auto index = csv_.find_column(column);
  if (!index || row.cells[*index].text.empty()) return nullptr;
  return &row.cells[*index];
}

void TableCells::refuse_cell(const CsvRow& row, std::string_view column, std::string message, std::string hint) {
  const auto index = csv_.find_column(column);
  refuse({.file = csv_.file, .line = row.line, .column = index ? row.cells[*index].column : 1}, std::move(message),
         row.raw, std::move(hint));
}

void TableCells::refuse_word(const CsvRow& row, std::string_view column, const std::string& word,
                             const std::vector<std::string>& names) {
  refuse_cell(row, column, fmt::format("{} '{}' is unknown", column, word), nearest_of(word, names));
}

std::string TableCells::text(const CsvRow& row, std::string_view column) const {
  const CsvCell* const found = cell(row, column);
  return found == nullptr ? "" : found->text;
}

std::vector<std::string> TableCells::settings(const CsvRow& row, std::string_view column) const {
  const std::string given = text(row, column);
  std::vector<std::string> settings;
  for (std::size_t begin = 0; begin < given.size();) {
    const std::size_t end = std::min(given.find(';', begin), given.size());
    if (end > begin) settings.push_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  return settings;
}

double TableCells::number(const CsvRow& row, std::string_view column, double fallback, double least) {
  const CsvCell* const found = cell(row, column);
  if (found == nullptr) return fallback;
  double value = 0.0;
  const char* const end = found->text.data() + found->text.size();
  const auto [rest, error] = std::from_chars(found->text.data(), end, value);
  if (error == std::errc() && rest == end && std::isfinite(value) && value >= least && value <= kMostInCell) {
    return value;
  }
  refuse_cell(
      row, column,
      fmt::format("{} is '{}' and must be a number from {} to {:.0e}", column, found->text, least, kMostInCell));
  return fallback;
}

std::int64_t TableCells::whole(const CsvRow& row, std::string_view column, std::int64_t fallback) {
  const double value = number(row, column, static_cast<double>(fallback), 0.0);
  if (value <= 1e12 && std::floor(value) >= value) return static_cast<std::int64_t>(value);
  refuse_cell(row, column, fmt::format("{} is {} and must be a whole number", column, value));
  return fallback;
}

}  // namespace ringwright::validation
