// The rows of a CSV text: fields between commas, quoted where they hold one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::traces {

class CsvRows {
 public:
  explicit CsvRows(std::string_view text) : text_(text) {}
  // False at the end. Empty lines are left out.
  [[nodiscard]] bool next(std::vector<std::string>& fields);
  // Of the row that was read last, from 1.
  [[nodiscard]] int line() const { return line_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
};

// Beyond three thousand years: times in milliseconds since 1970, or a mistake.
inline constexpr double kMostLoggedSeconds = 1e11;

// Of whole text; false where it is none, or beyond kMostLoggedSeconds.
[[nodiscard]] bool parse_seconds(std::string_view text, double& value);
// "2023-05-17 11:00:58", with fractions of a second or a zone ("+08:00") or without: seconds since 1970.
[[nodiscard]] bool parse_date(std::string_view text, double& value);

}  // namespace ringwright::traces
