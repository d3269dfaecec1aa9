// ASTRA-sim's whole nanoseconds on the clock of picoseconds.
//
// Only delays are rounded down, as in ASTRA-sim, whose clock has no other moments: a message that starts between two
// nanoseconds keeps its place between them.
#pragma once

#include <algorithm>

#include "core/base/ticks.h"
#include "core/base/units.h"
#include "network_models/topologies/dimensions/astra_topology.h"

namespace ringwright::network_models {

inline constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

[[nodiscard]] inline AstraLink astra_link(Bandwidth bandwidth, Duration latency) {
  return {.bytes_per_ns = bandwidth.count() / 1e9,
          .latency_ns = static_cast<double>(latency.count()) / static_cast<double>(kPicosecondsPerNanosecond)};
}

// Saturates at the end of the clock.
[[nodiscard]] inline Duration in_nanoseconds(Tick ticks) {
  return Duration(ticks) * kPicosecondsPerNanosecond;
}

}  // namespace ringwright::network_models
