// Reads a plain comma-separated file (no quotes) with a header line, and finds columns by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"

namespace ringwright::peers {

[[nodiscard]] inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

class CsvTable {
 public:
  explicit CsvTable(const std::string& path) {
    std::ifstream file(path);
    CHECK(file.good(), "the file of reference values cannot be read: " + path);
    std::string line;
    std::getline(file, line);
    names_ = split(line, ',');
    while (std::getline(file, line)) rows_.push_back(split(line, ','));
    CHECK(!rows_.empty(), "the file of reference values is empty: " + path);
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Empty where the row ends early.
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const {
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (names_[c] == column) return c < rows_[row].size() ? rows_[row][c] : std::string();
    }
    CHECK(false, "no such column: " + std::string(column));
    return {};
  }
  [[nodiscard]] double number(std::size_t row, std::string_view column) const { return std::stod(text(row, column)); }
  [[nodiscard]] std::uint32_t count(std::size_t row, std::string_view column) const {
    return static_cast<std::uint32_t>(std::stoul(text(row, column)));
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ringwright::peers
