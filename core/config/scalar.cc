#include "core/config/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number's text, taken apart: "-1_000.5e3k" and what follows it.
struct NumberText {
  std::string digits;  // without underscores, as from_chars reads it
  std::string_view rest;
};

// "+" before digits is not in the grammar, underscores stand between digits only.
std::optional<NumberText> split_number(std::string_view text) {
  NumberText number;
  std::size_t at = 0;
  const auto take_digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && (is_digit(text[at]) || (text[at] == '_' && at > start && is_digit(text[at - 1]) &&
                                                       at + 1 < text.size() && is_digit(text[at + 1])))) {
      if (text[at] != '_') number.digits += text[at];
      ++at;
    }
    return at > start;
  };
  if (at < text.size() && text[at] == '-') number.digits += text[at++];
  const bool whole = take_digits();
  bool fraction = false;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    if (!whole) number.digits += '0';
    number.digits += text[at++];
    fraction = take_digits();
  }
  if (!whole && !fraction) return std::nullopt;
  const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 1 : 0;
  const bool exponent = at < text.size() && (text[at] == 'e' || text[at] == 'E') && at + 1 + sign < text.size() &&
                        is_digit(text[at + 1 + sign]);
  if (exponent) {
    number.digits += 'e';
    if (text[at + 1] == '-') number.digits += '-';
    at += 1 + sign;
    take_digits();
  }
  number.rest = text.substr(at);
  return number;
}

bool has_leading_zero(std::string_view digits) {
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

std::optional<double> to_double(std::string_view digits) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

ScalarError leading_zero(std::string_view text, const NumberText& number) {
  const std::string_view digits = number.digits;
  const std::string_view rest = number.rest;
  const bool negative = digits.front() == '-';
  std::string_view plain = digits.substr(negative ? 1 : 0);
  while (plain.size() > 1 && plain[0] == '0' && is_digit(plain[1])) plain.remove_prefix(1);
  return {.code = "E111",
          .says = fmt::format("has a leading zero: {}", text),
          .hint = fmt::format("write {}{}{}; YAML readers disagree whether {} is octal", negative ? "-" : "", plain,
                              rest, text)};
}

// For number spellings that other tools accept.
std::string number_hint(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + 2, end, value, 16).ptr == end) return fmt::format("did you mean {}?", value);
  }
  if (text.size() > 1 && text[0] == '+') return fmt::format("did you mean {}?", text.substr(1));
  if (!text.empty() && (text.find("inf") != std::string_view::npos || text.find("nan") != std::string_view::npos)) {
    return "only finite numbers have a meaning here";
  }
  const auto comma = text.find(',');
  if (comma != std::string_view::npos && comma > 0 && is_digit(text[comma - 1]))
    return "write 1_000 or 1000, not 1,000";
  return {};
}

ScalarError wrong_type(std::string_view wanted, std::string_view text, std::string hint = {}) {
  return {.code = "E105", .says = fmt::format("must be {}, not '{}'", wanted, text), .hint = std::move(hint)};
}

double factor_of(std::string_view suffix) {
  if (suffix == "k") return 1e3;
  if (suffix == "M") return 1e6;
  if (suffix == "G") return 1e9;
  return suffix.empty() ? 1.0 : 0.0;
}

struct Unit {
  std::string_view name;
  double factor;  // base units per one of these; only to choose how to write a value
};

constexpr std::array kDurationUnits = {Unit{"ps", 1.0}, Unit{"ns", 1e3},    Unit{"us", 1e6},   Unit{"ms", 1e9},
                                       Unit{"s", 1e12}, Unit{"min", 60e12}, Unit{"h", 3600e12}};
constexpr std::array kBytesUnits = {Unit{"B", 1.0},      Unit{"kB", 1e3},     Unit{"MB", 1e6},
                                    Unit{"GB", 1e9},     Unit{"TB", 1e12},    Unit{"KiB", 1024.0},
                                    Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
constexpr std::array kBandwidthUnits = {Unit{"GB/s", 1e9},     Unit{"MB/s", 1e6},     Unit{"TB/s", 1e12},
                                        Unit{"Gbps", 1e9 / 8}, Unit{"Mbps", 1e6 / 8}, Unit{"Tbps", 1e12 / 8},
                                        Unit{"MiB/s", 0x1p20}, Unit{"GiB/s", 0x1p30}, Unit{"TiB/s", 0x1p40}};
constexpr std::array kFlopRateUnits = {Unit{"GFLOPS", 1e9}, Unit{"TFLOPS", 1e12}, Unit{"PFLOPS", 1e15}};

std::span<const Unit> units_of(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::kDuration: return kDurationUnits;
    case QuantityKind::kBytes: return kBytesUnits;
    case QuantityKind::kBandwidth: return kBandwidthUnits;
    case QuantityKind::kFlopRate: return kFlopRateUnits;
  }
  return {};
}

std::string_view noun_of(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::kDuration: return "a time with a unit";
    case QuantityKind::kBytes: return "a size with a unit";
    case QuantityKind::kBandwidth: return "a bandwidth with a unit";
    case QuantityKind::kFlopRate: return "a compute rate with a unit";
  }
  return "";
}

// What a bare number most probably meant: people think in Gbps, microseconds and TFLOPS, programs in base units.
std::string guess_unit(QuantityKind kind, double number) {
  constexpr double kLooksLikeBaseUnits = 1e6;
  const bool base = std::abs(number) >= kLooksLikeBaseUnits;
  switch (kind) {
    case QuantityKind::kDuration: return write_number(number) + (std::abs(number) < 1e-3 ? "s" : "us");
    case QuantityKind::kBytes: return write_number(number) + (base ? "B" : "MiB");
    case QuantityKind::kBandwidth: {
      const double gigabits = base ? number / 1e9 : number;
      return fmt::format("{}Gbps (= {}GB/s)", write_number(gigabits), write_number(gigabits / 8.0));
    }
    case QuantityKind::kFlopRate: return write_number(base ? number / 1e12 : number) + "TFLOPS";
  }
  return {};
}

// "GBps" means bytes and "Gb/s" bits: the nearest spellings, Gbps and GB/s, would be off by a factor of eight. "gb/s"
// may be either, each in quotes; there is none for "Gib/s" (empty text).
std::optional<std::string> unit_of_rate(std::string_view unit) {
  if (unit.size() < 2) return std::nullopt;
  const std::string prefix(1, unit.front());
  const std::string_view rest = unit.substr(1);
  const bool decimal = prefix.find_first_of("MGT") != std::string::npos;
  if (rest == "Bps" || rest == "B") return decimal ? std::optional(prefix + "B/s") : std::nullopt;
  for (const std::string_view bits : {"b/s", "bit/s", "bits/s", "Bit/s", "Bits/s", "bit", "b"}) {
    if (rest == bits && decimal) return prefix + "bps";
    if (rest == bits && bits == "b/s" && prefix.find_first_of("mgt") != std::string::npos) {
      const char large = static_cast<char>(prefix.front() - 'a' + 'A');
      return fmt::format("{}B/s' or '{}bps", large, large);
    }
    if (rest == bits) return std::string();
    if (rest.starts_with('i') && rest.substr(1) == bits) return std::string();
  }
  return std::nullopt;
}

std::string nearest_unit(QuantityKind kind, std::string_view unit) {
  if (kind == QuantityKind::kBandwidth) {
    if (const auto spelled = unit_of_rate(unit)) return *spelled;
  }
  const auto lower = [](std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
  };
  std::vector<std::string> names;
  for (const Unit& candidate : units_of(kind)) {
    if (lower(candidate.name) == lower(unit)) return std::string(candidate.name);
    names.emplace_back(candidate.name);
  }
  return nearest_name(unit, names);
}

template <class T>
Scalar<T> read_quantity(std::string_view text, QuantityKind kind, std::optional<T> (*parse)(std::string_view)) {
  const auto number = split_number(text);
  if (!number) {
    return tl::unexpected(wrong_type(fmt::format("{} ({})", noun_of(kind), unit_list(kind)), text, number_hint(text)));
  }
  if (has_leading_zero(number->digits)) return tl::unexpected(leading_zero(text, *number));
  const auto value = to_double(number->digits);
  if (number->rest.empty()) {
    return tl::unexpected(ScalarError{.code = "E110",
                                      .says = fmt::format("= {} needs a unit", text),
                                      .hint = "did you mean " + guess_unit(kind, value.value_or(1.0)) + "?"});
  }
  const std::string_view unit = number->rest.substr(number->rest.front() == ' ' ? 1 : 0);
  // With a blank between; otherwise the point of "1." would become part of the unit.
  if (const auto quantity = parse(number->digits + " " + std::string(unit))) return *quantity;
  const auto units = units_of(kind);
  const bool known = std::any_of(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit; });
  if (known) return tl::unexpected(ScalarError{.code = "E106", .says = fmt::format("= {} is too large", text)});
  const std::string near = nearest_unit(kind, unit);
  return tl::unexpected(ScalarError{.code = "E112",
                                    .says = fmt::format("= {} has the unknown unit '{}'{}", text, unit,
                                                        near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                                    .hint = "units here: " + unit_list(kind)});
}

// 10000000000 as 1e10; YAML reads 1e+16 as well, but people do not.
std::string write_round_number(double value) {
  constexpr std::size_t kManyZeros = 7;
  std::string text = write_number(value);
  if (const auto plus = text.find("e+"); plus != std::string::npos) return text.erase(plus + 1, 1);
  const auto last = text.find_last_not_of('0');
  const std::size_t zeros = last == std::string::npos ? 0 : text.size() - 1 - last;
  if (zeros < kManyZeros || text.find_first_not_of("0123456789") != std::string::npos) return text;
  return fmt::format("{}e{}", text.substr(0, last + 1), zeros);
}

// The shortest "<number><unit>" that reads back as exactly this value.
template <class T>
std::string write_quantity(T value, QuantityKind kind, std::optional<T> (*parse)(std::string_view)) {
  std::string best;
  for (const Unit& unit : units_of(kind)) {
    const std::string text =
        write_round_number(static_cast<double>(value.count()) / unit.factor) + std::string(unit.name);
    // 0.001MB/s rather than 1e-06GB/s.
    const bool tiny = best.find("e-") != std::string::npos && text.find("e-") == std::string::npos;
    if (parse(text) == value && (best.empty() || text.size() < best.size() || tiny)) best = text;
  }
  if (!best.empty()) return best;
  const Unit& smallest = units_of(kind).front();
  return write_number(static_cast<double>(value.count()) / smallest.factor) + std::string(smallest.name);
}

}  // namespace

Scalar<std::int64_t> read_integer(std::string_view text) {
  const auto number = split_number(text);
  const double factor = number ? factor_of(number->rest) : 0.0;
  if (factor < 1.0) return tl::unexpected(wrong_type("an integer", text, number_hint(text)));
  if (has_leading_zero(number->digits)) return tl::unexpected(leading_zero(text, *number));
  const ScalarError too_large{.code = "E106", .says = fmt::format("= {} does not fit in 64 bits", text)};
  const std::string& digits = number->digits;
  const bool plain = number->rest.empty() && digits.find_first_of(".e") == std::string::npos;
  if (plain) {
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) return tl::unexpected(too_large);
    return value;
  }
  const auto real = to_double(digits);
  if (!real) return tl::unexpected(too_large);
  const double value = *real * factor;
  // Beyond 2^53 a double no longer distinguishes neighbouring integers.
  if (std::abs(value) > 0x1p53) return tl::unexpected(too_large);
  const double whole = std::round(value);
  if (std::abs(value - whole) > 1e-9 * std::max(1.0, std::abs(value))) {
    return tl::unexpected(wrong_type("an integer", text));
  }
  return static_cast<std::int64_t>(whole);
}

Scalar<double> read_number(std::string_view text) {
  const auto number = split_number(text);
  const double factor = number ? factor_of(number->rest) : 0.0;
  if (factor < 1.0) return tl::unexpected(wrong_type("a number", text, number_hint(text)));
  if (has_leading_zero(number->digits)) return tl::unexpected(leading_zero(text, *number));
  const auto value = to_double(number->digits);
  if (!value || !std::isfinite(*value * factor)) {
    return tl::unexpected(ScalarError{.code = "E106", .says = fmt::format("= {} does not fit a 64-bit number", text)});
  }
  return *value * factor;
}

Scalar<bool> read_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string hint;
  if (lower == "yes" || lower == "on" || lower == "true" || lower == "1" || lower == "y") hint = "write true";
  if (lower == "no" || lower == "off" || lower == "false" || lower == "0" || lower == "n") hint = "write false";
  return tl::unexpected(wrong_type("true or false", text, hint));
}

Scalar<double> read_ratio(std::string_view text) {
  constexpr std::string_view kWanted = "a ratio above 0";
  const auto colon = text.find(':');
  const auto left = read_number(text.substr(0, colon));
  const auto right = colon == std::string_view::npos ? Scalar<double>(1.0) : read_number(text.substr(colon + 1));
  if (!left || !right) return tl::unexpected(wrong_type(kWanted, text, "write 2:1 or 2.0"));
  if (*left <= 0.0 || *right <= 0.0) {
    return tl::unexpected(ScalarError{.code = "E106", .says = fmt::format("is {} but must be {}", text, kWanted)});
  }
  return *left / *right;
}

Scalar<double> read_percent(std::string_view text) {
  std::string_view number = text;
  const bool percent = !number.empty() && number.back() == '%';
  if (percent) number.remove_suffix(1);
  if (percent && !number.empty() && number.back() == ' ') number.remove_suffix(1);
  auto value = read_number(number);
  if (!value && value.error().code != "E105") return value;
  if (!value) return tl::unexpected(wrong_type("a share", text, "write 10% or 0.1"));
  return percent ? *value / 100.0 : *value;
}

Scalar<Duration> read_duration(std::string_view text) {
  return read_quantity<Duration>(text, QuantityKind::kDuration, parse_duration);
}
Scalar<Bytes> read_bytes(std::string_view text) {
  return read_quantity<Bytes>(text, QuantityKind::kBytes, parse_bytes);
}
Scalar<Bandwidth> read_bandwidth(std::string_view text) {
  return read_quantity<Bandwidth>(text, QuantityKind::kBandwidth, parse_bandwidth);
}
Scalar<FlopRate> read_flop_rate(std::string_view text) {
  return read_quantity<FlopRate>(text, QuantityKind::kFlopRate, parse_flop_rate);
}

std::string write_integer(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string write_number(double value) {
  return fmt::format("{}", value);
}
std::string write_duration(Duration value) {
  return write_quantity<Duration>(value, QuantityKind::kDuration, parse_duration);
}
std::string write_bytes(Bytes value) {
  return write_quantity<Bytes>(value, QuantityKind::kBytes, parse_bytes);
}
std::string write_bandwidth(Bandwidth value) {
  return write_quantity<Bandwidth>(value, QuantityKind::kBandwidth, parse_bandwidth);
}
std::string write_flop_rate(FlopRate value) {
  return write_quantity<FlopRate>(value, QuantityKind::kFlopRate, parse_flop_rate);
}

std::string unit_pattern(QuantityKind kind) {
  std::string pattern;
  for (const Unit& unit : units_of(kind)) pattern += (pattern.empty() ? "(" : "|") + std::string(unit.name);
  return pattern + ")";
}

std::string unit_list(QuantityKind kind) {
  std::vector<std::string> names;
  for (const Unit& unit : units_of(kind)) names.emplace_back(unit.name);
  return join(names, ", ");
}

}  // namespace ringwright
