#include "traces/input/decimal.h"

#include <charconv>
#include <cmath>

namespace ringwright::traces {

std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    value *= std::pow(10.0, digits);
    if (error != std::errc() || end != text.data() + text.size() || !(std::abs(value) < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(value));
  }
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t value = 0;
  int fraction = -1;  // digits behind the point; -1: before it
  bool any = false;
  const auto push = [&](int digit) {
    return !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, digit, &value);
  };
  for (const char c : text) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (fraction >= digits) continue;
    if (fraction >= 0) ++fraction;
    if (!push(c - '0')) return std::nullopt;
  }
  if (!any) return std::nullopt;
  for (int i = fraction < 0 ? 0 : fraction; i < digits; ++i) {
    if (!push(0)) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace ringwright::traces
