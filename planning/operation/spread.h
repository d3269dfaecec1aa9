// A random time: fixed, exponential, uniform, lognormal or Weibull.
//
//   exponential   mean                   -mean ln(u)
//   uniform       from, to               from + (to - from) u
//   lognormal     median, mean           median exp(sigma z), sigma = sqrt(2 ln(mean / median)), z standard normal
//   Weibull       mean, shape k          scale (-ln(u))^(1/k), scale = mean / Gamma(1 + 1/k)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/config/config_map.h"
#include "planning/operation/job_time.h"

namespace ringwright::planning {

enum class SpreadShape { kFixed, kExponential, kUniform, kLognormal, kWeibull };

// Seconds; lifetimes of single parts are longer than the clock's range.
struct Spread {
  SpreadShape shape = SpreadShape::kFixed;
  double first = 0.0;   // the time, the mean, `from`, the median, the scale
  double second = 0.0;  // `to`, sigma, the shape

  [[nodiscard]] static Spread fixed(double seconds) { return {.shape = SpreadShape::kFixed, .first = seconds}; }
  [[nodiscard]] static Spread exponential(double mean) { return {.shape = SpreadShape::kExponential, .first = mean}; }
  [[nodiscard]] static Spread weibull(double mean, double shape);
  [[nodiscard]] static Spread lognormal(double median, double mean);
  [[nodiscard]] static Spread uniform(double from, double to) {
    return {.shape = SpreadShape::kUniform, .first = from, .second = to};
  }

  [[nodiscard]] double mean() const;
  [[nodiscard]] JobTime draw(RandomStream& stream) const;
};

// A key's time, written plainly ("600 s") or as {distribution: exponential, mean: 2 h}; E401 where it is neither.
struct SpreadKey {
  std::string_view name;
  std::string_view doc;
  std::optional<Spread> fallback = {};  // empty: the key is required
};
[[nodiscard]] Spread read_spread(ConfigMap& map, const SpreadKey& key);

// Whether a key that is read only where it is given is read now: it is given, or keys are only declared.
[[nodiscard]] inline bool wants(const ConfigMap& map, std::string_view name) {
  return map.has(name) || map.documenting();
}
// The names in a map from names to settings; where keys are only declared, one that stands for all.
[[nodiscard]] std::vector<std::string> names_in(const ConfigMap& map);

// One time with its unit, in seconds; E401 where there is none.
struct SecondsKey {
  std::string_view name;
  std::string_view doc;
  std::optional<double> fallback = {};  // seconds; empty: the key is required
};
[[nodiscard]] double read_seconds(ConfigMap& map, const SecondsKey& key);

}  // namespace ringwright::planning
