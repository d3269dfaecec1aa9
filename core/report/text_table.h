// Columns of text that line up: the tables of terminal reports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Cells may be fewer than columns. They may hold ANSI escapes, which have no width.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Columns two blanks apart, no blanks at the end of a line.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How many columns of a terminal the text takes: ANSI escapes take none, a UTF-8 sequence takes one.
[[nodiscard]] std::size_t visible_width(std::string_view text);

// Two blocks side by side, the right one starting `gap` columns behind the longest line of the left one.
[[nodiscard]] std::vector<std::string> side_by_side(const std::vector<std::string>& left,
                                              const std::vector<std::string>& right, std::size_t gap);
[[nodiscard]] std::size_t widest(const std::vector<std::string>& lines);

// At most `width` columns: the middle of a longer name is left out ("leaf12..->spine7"), since the ends distinguish
// names.
[[nodiscard]] std::string shorten(std::string_view name, std::size_t width);

// At most `width` columns of plain text; longer text ends in "..".
[[nodiscard]] std::string shorten_end(std::string_view text, std::size_t width);

// Words on lines of at most `width` columns; lines after the first start with `indent` blanks.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace ringwright
