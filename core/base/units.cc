#include "core/base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace ringwright {
namespace {

struct UnitName {
  std::string_view name;
  double factor;  // base units per one of these
};

constexpr std::array kTimeUnits = {UnitName{"ps", 1.0},   UnitName{"ns", 1e3},    UnitName{"us", 1e6},
                                   UnitName{"ms", 1e9},   UnitName{"s", 1e12},    UnitName{"min", 60e12},
                                   UnitName{"h", 3600e12}};
constexpr std::array kByteUnits = {UnitName{"B", 1.0},     UnitName{"kB", 1e3},     UnitName{"MB", 1e6},
                                   UnitName{"GB", 1e9},    UnitName{"TB", 1e12},    UnitName{"KiB", 1024.0},
                                   UnitName{"MiB", 0x1p20}, UnitName{"GiB", 0x1p30}, UnitName{"TiB", 0x1p40}};
constexpr std::array kBandwidthUnits = {
    UnitName{"Mbps", 1e6 / 8}, UnitName{"Gbps", 1e9 / 8},  UnitName{"Tbps", 1e12 / 8}, UnitName{"MB/s", 1e6},
    UnitName{"GB/s", 1e9},     UnitName{"TB/s", 1e12},     UnitName{"MiB/s", 0x1p20},  UnitName{"GiB/s", 0x1p30},
    UnitName{"TiB/s", 0x1p40}};
constexpr std::array kFlopRateUnits = {UnitName{"GFLOPS", 1e9}, UnitName{"TFLOPS", 1e12}, UnitName{"PFLOPS", 1e15}};

// The number in base units, or nothing when the text is not "<number>[ ]<one of the units>".
std::optional<double> parse_with_unit(std::string_view text, std::span<const UnitName> units) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const UnitName& candidate : units) {
    if (unit == candidate.name) return number * candidate.factor;
  }
  return std::nullopt;
}

constexpr double kLimit = 9.2e18;  // what a signed 64-bit integer holds for sure

std::optional<std::int64_t> to_integer(std::optional<double> value) {
  if (!value || std::abs(*value) > kLimit) return std::nullopt;
  return std::llround(*value);
}

// The nearest integer. A value that does not fit saturates; NaN gives the largest.
std::int64_t nearest_integer(double value) {
  if (std::abs(value) <= kLimit) [[likely]]
    return std::llround(value);
  return value < 0.0 ? -Duration::kLargest : Duration::kLargest;
}

// Four significant digits without trailing zeros.
std::string print(double value, std::string_view unit) { return fmt::format("{:.4g} {}", value, unit); }

std::string print_scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t index = 0;
  // 0.99995 of a step already prints as "1" of the next unit.
  while (index + 1 < units.size() && std::abs(value) >= step * 0.99995) {
    value /= step;
    ++index;
  }
  return print(value, units[index]);
}

}  // namespace

Duration from_seconds(double seconds) {
  return Duration(nearest_integer(seconds * 1e12));
}

Duration transfer_time(Bytes size, Bandwidth rate) {
  return from_seconds(static_cast<double>(size.count()) / rate.count());
}

Duration compute_time(Flops work, FlopRate rate) { return from_seconds(work.count() / rate.count()); }

Bandwidth per_second(Bytes size, Duration elapsed) {
  return Bandwidth(static_cast<double>(size.count()) / to_seconds(elapsed));
}

double ratio(Duration part, Duration whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

double ratio(Bytes part, Bytes whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

Duration scale(Duration d, double factor) { return from_seconds(to_seconds(d) * factor); }

Bytes scale(Bytes size, double factor) {
  return Bytes(nearest_integer(static_cast<double>(size.count()) * factor));
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto raw = to_integer(parse_with_unit(text, kTimeUnits));
  return raw ? std::optional(Duration(*raw)) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto raw = to_integer(parse_with_unit(text, kByteUnits));
  return raw ? std::optional(Bytes(*raw)) : std::nullopt;
}

std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
  const auto raw = parse_with_unit(text, kBandwidthUnits);
  return raw ? std::optional(Bandwidth(*raw)) : std::nullopt;
}

std::optional<FlopRate> parse_flop_rate(std::string_view text) {
  const auto raw = parse_with_unit(text, kFlopRateUnits);
  return raw ? std::optional(FlopRate(*raw)) : std::nullopt;
}

std::string to_string(Duration d) {
  constexpr std::array<std::string_view, 5> kUnits = {"ps", "ns", "us", "ms", "s"};
  return print_scaled(static_cast<double>(d.count()), 1e3, kUnits);
}

std::string to_string(Bytes size) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  return print_scaled(static_cast<double>(size.count()), 1024.0, kUnits);
}

std::string to_string(Bandwidth rate) {
  constexpr std::array<std::string_view, 5> kUnits = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return print_scaled(rate.count(), 1e3, kUnits);
}

std::string to_string(Flops work) {
  constexpr std::array<std::string_view, 8> kUnits = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                                      "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
  return print_scaled(work.count(), 1e3, kUnits);
}

std::string to_string(FlopRate rate) {
  constexpr std::array<std::string_view, 7> kUnits = {"FLOP/s",  "kFLOP/s", "MFLOP/s", "GFLOP/s",
                                                      "TFLOP/s", "PFLOP/s", "EFLOP/s"};
  return print_scaled(rate.count(), 1e3, kUnits);
}

}  // namespace ringwright
