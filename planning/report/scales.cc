#include "planning/report/scales.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::planning {
namespace {

constexpr std::array kTimeUnits = {UnitScale{"s", 1.0}, UnitScale{"ms", 1e3}, UnitScale{"us", 1e6}};
constexpr std::array kLongUnits = {UnitScale{"days", 1.0 / 86'400.0}, UnitScale{"h", 1.0 / 3600.0},
                                   UnitScale{"min", 1.0 / 60.0}, UnitScale{"s", 1.0}};
constexpr std::array kByteUnits = {UnitScale{"TiB", 1.0 / 1099511627776.0}, UnitScale{"GiB", 1.0 / 1073741824.0},
                                   UnitScale{"MiB", 1.0 / 1048576.0}, UnitScale{"KiB", 1.0 / 1024.0},
                                   UnitScale{"B", 1.0}};

// The first in which the number is at least `least`.
template <class Scales>
UnitScale first_of(const Scales& scales, double number, double least) {
  for (const UnitScale& scale : scales) {
    if (std::abs(number) * scale.factor >= least) return scale;
  }
  return scales.back();
}

std::string text_in(const UnitScale& scale, double number) {
  return fmt::format("{:.4g} {}", number * scale.factor, scale.unit);
}

}  // namespace

// Parts of a step of 13 s are read best in milliseconds: "867 ms" and "37 ms" rather than "0.867 s" and "0.037 s".
UnitScale time_scale(double largest_seconds) {
  return first_of(kTimeUnits, largest_seconds, 20.0);
}

UnitScale byte_scale(double largest_bytes) {
  return first_of(kByteUnits, largest_bytes, 1.0);
}

UnitScale long_time_scale(double largest_seconds) {
  return first_of(kLongUnits, largest_seconds, 2.0);
}

std::string long_time_text(double seconds) {
  return text_in(long_time_scale(seconds), seconds);
}

std::string seconds_text(double seconds) {
  return text_in(first_of(kTimeUnits, seconds, 1.0), seconds);
}

std::string bytes_text(double bytes) {
  return text_in(first_of(kByteUnits, bytes, 1.0), bytes);
}

std::string percent_text(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string count_text(double number) {
  if (std::abs(number) < 100.0 || std::abs(number) > 1e15) return fmt::format("{:.3g}", number);
  return with_commas(std::llround(number));
}

std::string number_text(double number, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(number), noun, number > 0.5 && number < 1.5 ? "" : "s");
}

}  // namespace ringwright::planning
