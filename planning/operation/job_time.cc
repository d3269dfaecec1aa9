#include "planning/operation/job_time.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array kTimeUnits{TimeUnit{"us", 1e-6},  TimeUnit{"ms", 1e-3},  TimeUnit{"s", 1.0},
                                TimeUnit{"min", 60.0}, TimeUnit{"h", 3600.0}, TimeUnit{"d", 86400.0}};

}  // namespace

JobTime job_seconds(double seconds) {
  const double nanoseconds = std::round(seconds * 1e9);
  if (!(std::abs(nanoseconds) < static_cast<double>(JobTime::kLargest))) return kNever;
  return JobTime(static_cast<std::int64_t>(nanoseconds));
}

JobTime job_time(Duration simulated) {
  const std::int64_t rest = simulated.count() % 1000;
  return JobTime(simulated.count() / 1000 + (rest >= 500 ? 1 : 0) - (rest <= -500 ? 1 : 0));
}

JobTime share_of(JobTime of, JobTime part, JobTime whole) {
  const WideInteger product = static_cast<WideInteger>(of.count()) * part.count();
  return JobTime(static_cast<std::int64_t>((product + whole.count() / 2) / whole.count()));
}

std::optional<double> parse_seconds(std::string_view text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number >= 0.0) || !std::isfinite(number)) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const TimeUnit& known : kTimeUnits) {
    if (unit == known.name) return number * known.seconds;
  }
  return std::nullopt;
}

std::string to_string(JobTime time) {
  if (time >= kNever) return "never";
  const double seconds = seconds_of(time);
  for (std::size_t i = kTimeUnits.size(); i-- > 1;) {
    if (std::abs(seconds) >= kTimeUnits[i].seconds) {
      return fmt::format("{:.4g} {}", seconds / kTimeUnits[i].seconds, kTimeUnits[i].name);
    }
  }
  return time == JobTime() ? "0 s" : fmt::format("{:.4g} us", seconds * 1e6);
}

}  // namespace ringwright::planning
