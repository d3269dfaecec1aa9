// How much of their capacity links carried over one step of a run, as means over equal intervals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace ringwright::traces {

struct LinkCurve {
  std::string name;             // of a tier "GPU - NVSwitch", of a link "host0/gpu0->host0/nvswitch0"
  std::uint64_t links = 1;      // of the tier, or with an equal load
  std::vector<double> mean;     // by interval: share of the capacity
  std::vector<double> highest;  // by interval: of the fullest link of a tier; empty for a link
};

struct LinkCurves {
  TimePoint start;               // of the first interval, as in the timeline
  Duration interval;             // the last one may be longer by less than a nanosecond
  std::vector<LinkCurve> tiers;  // from the GPU outwards
  std::vector<LinkCurve> links;  // those that carried most, busiest first
};

}  // namespace ringwright::traces
