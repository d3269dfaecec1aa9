#include "traces/cluster_logs/csv_rows.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace ringwright::traces {

bool CsvRows::next(std::vector<std::string>& fields) {
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view row = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++line_;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    fields.assign(1, {});
    bool quoted = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char c = row[i];
      if (c == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') {
        fields.back() += row[++i];
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return true;
  }
  return false;
}

bool parse_seconds(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::abs(value) <= kMostLoggedSeconds;
}

namespace {

// Two or four digits at a position.
bool digits_at(std::string_view text, std::size_t at, std::size_t count, int& value) {
  if (at + count > text.size()) return false;
  value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return false;
    value = 10 * value + (c - '0');
  }
  return true;
}

}  // namespace

bool parse_date(std::string_view text, double& value) {
  std::array<int, 6> part{};
  constexpr std::array<std::size_t, 6> kAt{0, 5, 8, 11, 14, 17};
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (!digits_at(text, kAt[i], i == 0 ? 4 : 2, part[i])) return false;
  }
  const bool separated = text[4] == '-' && text[7] == '-' && (text[10] == ' ' || text[10] == 'T') && text[13] == ':' &&
                         text[16] == ':';
  const std::chrono::year_month_day day{std::chrono::year(part[0]), std::chrono::month(static_cast<unsigned>(part[1])),
                                        std::chrono::day(static_cast<unsigned>(part[2]))};
  if (!separated || !day.ok() || part[3] > 23 || part[4] > 59 || part[5] > 60) return false;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  value = static_cast<double>(days) * 86'400.0 + part[3] * 3600.0 + part[4] * 60.0 + part[5];
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of("0123456789", 1)));
  if (rest.empty() || rest == "Z") return true;
  int hours = 0;
  int minutes = 0;
  const bool zone = (rest[0] == '+' || rest[0] == '-') && digits_at(rest, 1, 2, hours) &&
                    digits_at(rest, rest.size() > 3 && rest[3] == ':' ? 4 : 3, 2, minutes);
  if (!zone) return false;
  value -= (rest[0] == '+' ? 1.0 : -1.0) * (hours * 3600.0 + minutes * 60.0);
  return true;
}

}  // namespace ringwright::traces
