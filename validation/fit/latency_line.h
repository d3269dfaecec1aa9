// A latency, and bytes at a rate: the model of every copy.
#pragma once

#include <span>

#include "core/base/units.h"

namespace ringwright::validation {

struct LatencyLine {
  Duration latency;
  Bandwidth rate;

  [[nodiscard]] double seconds(Bytes bytes) const;
};

struct SizedTime {
  Bytes bytes;
  double seconds = 0.0;  // above 0
};
// Least squares of the relative error, (latency + bytes / rate) / measured - 1, which is linear in both constants.
// Without latency where the points are of one size only or are no such line.
[[nodiscard]] LatencyLine fit_latency_line(std::span<const SizedTime> points);

}  // namespace ringwright::validation
