// The clock of a job's life: whole nanoseconds, range 292 years. The clock of a training step ends after 106 days.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace ringwright::planning {

using JobTime = Quantity<struct JobTimeTag, std::int64_t>;

// Beyond every life: what never happens.
inline constexpr JobTime kNever{JobTime::kLargest};

[[nodiscard]] constexpr double seconds_of(JobTime time) {
  return static_cast<double>(time.count()) * 1e-9;
}
[[nodiscard]] constexpr double hours_of(JobTime time) {
  return seconds_of(time) / 3600.0;
}
// To the nearest nanosecond; what does not fit, or is no number, is never.
[[nodiscard]] JobTime job_seconds(double seconds);
// A simulated time, to the nearest nanosecond.
[[nodiscard]] JobTime job_time(Duration simulated);
// part / whole * of, to the nearest nanosecond and without overflow; `whole` is above zero.
[[nodiscard]] JobTime share_of(JobTime of, JobTime part, JobTime whole);

// "54 d", "3.09 h", "20 min", "7.5 s", "200 ms", "2 us" in seconds; the unit is mandatory. Empty when the text is not
// of this form.
[[nodiscard]] std::optional<double> parse_seconds(std::string_view text);

// For people, four digits and the unit that fits: "54 d", "3.092 h", "90 s".
[[nodiscard]] std::string to_string(JobTime time);

}  // namespace ringwright::planning
