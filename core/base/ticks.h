// Time in whole ticks, for simulations whose clock another simulator defines: ASTRA-sim counts nanoseconds.
#pragma once

#include <cstdint>

namespace ringwright {

using Tick = std::int64_t;

// No event happens there or later; a sum of two ticks below it cannot overflow.
inline constexpr Tick kLastTick = Tick{1} << 61;

// Rounds down, as a conversion to an integer does; what lies beyond the clock (or is no number) is its end.
[[nodiscard]] constexpr Tick whole_ticks(double ticks) {
  if (!(ticks < static_cast<double>(kLastTick))) return kLastTick;
  return ticks > 0.0 ? static_cast<Tick>(ticks) : 0;
}

// The sum of two times on the clock, at most its end.
[[nodiscard]] constexpr Tick later(Tick a, Tick b) {
  return a + b < kLastTick ? a + b : kLastTick;
}

struct TickEvent {
  std::uint32_t kind = 0;
  std::uint32_t index = 0;
};

}  // namespace ringwright
