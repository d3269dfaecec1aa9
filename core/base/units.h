// Typed quantities: time in integer picoseconds, bytes, rates, arithmetic; literals, parsing, printing.
//
// Prefixes: GB = 1e9 bytes, GiB = 2^30 bytes, Gbps = 1e9 bit/s. Bandwidths are per direction. Cross-type arithmetic
// exists only as named functions, so that each conversion has a single rounding.
//
// Whole numbers never wrap: a sum, difference or product that leaves the range saturates, so that a time beyond the
// clock is recognised (`is_beyond_clock`) and never looks like a short or a negative one.
#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright {

template <class Tag, class Rep>
class Quantity {
 public:
  using Representation = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep raw) : raw_(raw) {}
  // The bare number in the quantity's base unit (ps, bytes, bytes/s, FLOP, FLOP/s).
  [[nodiscard]] constexpr Rep count() const { return raw_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr bool operator==(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(sum(a.raw_, b.raw_)); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(difference(a.raw_, b.raw_)); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(product(a.raw_, factor)); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.raw_ / divisor); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 public:
  // The largest whole number in use. The one above it stays free: network models use it for "never".
  static constexpr Rep kLargest = std::numeric_limits<Rep>::max() - Rep(std::integral<Rep> ? 1 : 0);

 private:
  static constexpr Rep sum(Rep a, Rep b) {
    if constexpr (std::integral<Rep>) {
      Rep result;
      if (__builtin_add_overflow(a, b, &result)) [[unlikely]] return b < 0 ? -kLargest : kLargest;
      return result;
    } else {
      return a + b;
    }
  }
  static constexpr Rep difference(Rep a, Rep b) {
    if constexpr (std::integral<Rep>) {
      Rep result;
      if (__builtin_sub_overflow(a, b, &result)) [[unlikely]] return b > 0 ? -kLargest : kLargest;
      return result;
    } else {
      return a - b;
    }
  }
  static constexpr Rep product(Rep a, Rep b) {
    if constexpr (std::integral<Rep>) {
      Rep result;
      if (__builtin_mul_overflow(a, b, &result)) [[unlikely]] return (a < 0) != (b < 0) ? -kLargest : kLargest;
      return result;
    } else {
      return a * b;
    }
  }

  Rep raw_ = 0;
};

using Duration = Quantity<struct DurationTag, std::int64_t>;  // picoseconds; range 106 days
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Bandwidth = Quantity<struct BandwidthTag, double>;  // bytes per second, one direction
using Flops = Quantity<struct FlopsTag, double>;          // floating-point operations, multiply-add = 2
using FlopRate = Quantity<struct FlopRateTag, double>;    // FLOP per second

// For sums of counts over ranks and iterations, which may exceed 64 bits where each count does not.
__extension__ using WideInteger = __int128;

// A moment of simulated time, counted from the start of the run.
class TimePoint {
 public:
  constexpr TimePoint() = default;
  constexpr explicit TimePoint(Duration since_start) : since_start_(since_start) {}
  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }

  friend constexpr auto operator<=>(TimePoint, TimePoint) = default;
  friend constexpr bool operator==(TimePoint, TimePoint) = default;
  friend constexpr TimePoint operator+(TimePoint t, Duration d) { return TimePoint(t.since_start_ + d); }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) { return TimePoint(t.since_start_ - d); }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) { return a.since_start_ - b.since_start_; }

 private:
  Duration since_start_;
};

// The end of simulated time: 2^63 picoseconds, 106 days. Nothing happens there or later; code that computes such a time
// has left the clock's range and reports it.
inline constexpr Duration kClockEnd{Duration::kLargest};
[[nodiscard]] constexpr bool is_beyond_clock(Duration d) { return d >= kClockEnd || d <= Duration() - kClockEnd; }
[[nodiscard]] constexpr bool is_beyond_clock(TimePoint t) { return is_beyond_clock(t.since_start()); }

// Rounds to the nearest picosecond; the only conversion from a real number of seconds to the integer clock. A value
// that does not fit (or NaN) is the end of the clock.
[[nodiscard]] Duration from_seconds(double seconds);
[[nodiscard]] constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-12; }

[[nodiscard]] Duration transfer_time(Bytes size, Bandwidth rate);
[[nodiscard]] Duration compute_time(Flops work, FlopRate rate);
[[nodiscard]] Bandwidth per_second(Bytes size, Duration elapsed);
[[nodiscard]] double ratio(Duration part, Duration whole);
[[nodiscard]] double ratio(Bytes part, Bytes whole);
[[nodiscard]] Duration scale(Duration d, double factor);
// Rounds to the nearest byte; a value that does not fit is the largest size.
[[nodiscard]] Bytes scale(Bytes size, double factor);

// Text to quantity; the unit is mandatory ("1.2us", "400Gbps", "50GB/s", "80GiB", "989.4TFLOPS"; a blank before the
// unit is allowed). Empty when the text is not of this form or does not fit.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] std::optional<Bandwidth> parse_bandwidth(std::string_view text);
[[nodiscard]] std::optional<FlopRate> parse_flop_rate(std::string_view text);

// Quantity to text for people: four significant digits and the unit that fits ("6.52 s", "68.9 GiB", "50 GB/s").
[[nodiscard]] std::string to_string(Duration d);
[[nodiscard]] std::string to_string(Bytes size);
[[nodiscard]] std::string to_string(Bandwidth rate);
[[nodiscard]] std::string to_string(Flops work);
[[nodiscard]] std::string to_string(FlopRate rate);

namespace literals {
consteval Duration operator""_ps(unsigned long long n) { return Duration(static_cast<std::int64_t>(n)); }
consteval Duration operator""_ns(unsigned long long n) { return Duration(static_cast<std::int64_t>(n) * 1'000); }
consteval Duration operator""_us(unsigned long long n) { return Duration(static_cast<std::int64_t>(n) * 1'000'000); }
consteval Duration operator""_ms(unsigned long long n) {
  return Duration(static_cast<std::int64_t>(n) * 1'000'000'000);
}
consteval Duration operator""_s(unsigned long long n) {
  return Duration(static_cast<std::int64_t>(n) * 1'000'000'000'000);
}
consteval Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
consteval Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 10); }
consteval Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 20); }
consteval Bytes operator""_GiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 30); }
consteval Bandwidth operator""_GBps(unsigned long long n) { return Bandwidth(static_cast<double>(n) * 1e9); }
consteval Bandwidth operator""_Gbps(unsigned long long n) { return Bandwidth(static_cast<double>(n) * 1e9 / 8.0); }
consteval FlopRate operator""_TFLOPS(unsigned long long n) { return FlopRate(static_cast<double>(n) * 1e12); }
}  // namespace literals

}  // namespace ringwright
