// Units in which a panel shows its numbers: one for all values of a panel, by the largest of them.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::planning {

struct UnitScale {
  std::string_view unit;
  double factor = 1.0;  // from the base unit
};

[[nodiscard]] UnitScale time_scale(double largest_seconds);  // s, ms, us
[[nodiscard]] UnitScale byte_scale(double largest_bytes);    // TiB, GiB, MiB, KiB, B

[[nodiscard]] UnitScale long_time_scale(double largest_seconds);  // days, h, min, s

// "54 days", "3.1 h"
[[nodiscard]] std::string long_time_text(double seconds);
// "13.45 s", "39 GiB", "44.0 %"
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] std::string percent_text(double share);
// "14,003"; with three digits below 100
[[nodiscard]] std::string count_text(double number);
// "1 host", "12 hosts"
[[nodiscard]] std::string number_text(double number, std::string_view noun);

}  // namespace ringwright::planning
