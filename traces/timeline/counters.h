// The counters of a timeline: use of tiers and links in percent, device memory of ranks in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace ringwright::traces {

struct Timeline;

enum class CounterUnit : std::uint8_t { kPercent, kBytes };

struct CounterValue {
  TimePoint at;
  double value = 0.0;  // until the next one
};

struct TimelineCounter {
  std::string name;                   // "GPU - NVSwitch, mean of 64 links"
  CounterUnit unit = CounterUnit::kPercent;
  std::optional<std::uint32_t> rank;  // into Timeline::ranks; none: of the fabric
  std::vector<CounterValue> values;   // by time; only those that differ from the one before
};

// Those of the fabric first.
[[nodiscard]] std::vector<TimelineCounter> counters_of(const Timeline& timeline);
[[nodiscard]] std::size_t count_values(const std::vector<TimelineCounter>& counters);

}  // namespace ringwright::traces
