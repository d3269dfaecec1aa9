// Time in units of 2^-32 picoseconds, with exact sums: a difference of two moments does not depend on how long the run
// has taken before them, so that a run can repeat itself exactly.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "core/base/random.h"
#include "core/base/units.h"

namespace ringwright {

class FineTime {
 public:
  constexpr FineTime() = default;
  explicit FineTime(Duration time) : units_(WideInteger{time.count()} << kBits) {}
  // To the nearest unit.
  explicit FineTime(double picoseconds)
      : units_(static_cast<WideInteger>(std::round(std::ldexp(picoseconds, kBits)))) {}

  [[nodiscard]] double picoseconds() const { return std::ldexp(static_cast<double>(units_), -kBits); }
  [[nodiscard]] std::uint64_t digest() const {
    return mix(static_cast<std::uint64_t>(units_), static_cast<std::uint64_t>(units_ >> 64U));
  }

  FineTime& operator+=(FineTime other) {
    units_ += other.units_;
    return *this;
  }
  friend FineTime operator+(FineTime a, FineTime b) { return a += b; }
  friend FineTime operator-(FineTime a, FineTime b) {
    a.units_ -= b.units_;
    return a;
  }
  friend FineTime operator*(FineTime time, std::int64_t times) {
    time.units_ *= times;
    return time;
  }
  friend constexpr auto operator<=>(FineTime, FineTime) = default;

 private:
  static constexpr int kBits = 32;
  WideInteger units_ = 0;
};

}  // namespace ringwright
