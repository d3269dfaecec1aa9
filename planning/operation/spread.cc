#include "planning/operation/spread.h"

#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

constexpr std::array kSpreadShapes{Option{"fixed", "always `mean`"}, Option{"exponential", "memoryless; `mean`"},
                                   Option{"uniform", "between `from` and `to`"},
                                   Option{"lognormal", "a long tail: `median` and `mean`"},
                                   Option{"weibull", "`mean` and `shape`; below 1 the hazard falls with age"}};
constexpr std::string_view kTimeHint = "a number with a unit: 200 ms, 7.5 s, 20 min, 3.09 h, 54 d";

// Above zero and at most 1.
double unit_above_zero(RandomStream& stream) {
  return 1.0 - stream.next_unit();
}

Spread read_spread_map(ConfigMap map) {
  const std::string shape = map.choice(
      {.name = "distribution", .doc = "how the time is distributed", .fallback = std::string("fixed")}, kSpreadShapes);
  if (shape == "uniform") {
    const double from = read_seconds(map, {.name = "from", .doc = "the shortest time"});
    const double to = read_seconds(map, {.name = "to", .doc = "the longest time"});
    if (to < from) map.error("to", "E401", "a uniform time ends before it begins", "write from: 2700 s, to: 4500 s");
    return Spread::uniform(from, to);
  }
  const double mean = read_seconds(map, {.name = "mean", .doc = "the mean time"});
  if (shape == "exponential") return Spread::exponential(mean);
  if (shape == "weibull") {
    const double k = map.number({.name = "shape", .doc = "the Weibull shape", .min = 0.1, .max = 20.0});
    return Spread::weibull(mean, k);
  }
  if (shape == "lognormal") {
    const double median = read_seconds(map, {.name = "median", .doc = "the median time; at most the mean"});
    if (!(median > 0.0) || median > mean) {
      map.error("median", "E401", "the median of a lognormal time is above zero and at most the mean");
      return Spread::fixed(mean);
    }
    return Spread::lognormal(median, mean);
  }
  return Spread::fixed(mean);
}

}  // namespace

Spread Spread::weibull(double mean, double shape) {
  return {.shape = SpreadShape::kWeibull, .first = mean / std::tgamma(1.0 + 1.0 / shape), .second = shape};
}

Spread Spread::lognormal(double median, double mean) {
  return {.shape = SpreadShape::kLognormal, .first = median, .second = std::sqrt(2.0 * std::log(mean / median))};
}

double Spread::mean() const {
  switch (shape) {
    case SpreadShape::kFixed:
    case SpreadShape::kExponential: return first;
    case SpreadShape::kUniform: return (first + second) / 2.0;
    case SpreadShape::kLognormal: return first * std::exp(second * second / 2.0);
    case SpreadShape::kWeibull: return first * std::tgamma(1.0 + 1.0 / second);
  }
  return first;
}

JobTime Spread::draw(RandomStream& stream) const {
  switch (shape) {
    case SpreadShape::kFixed: return job_seconds(first);
    case SpreadShape::kExponential: return job_seconds(-first * std::log(unit_above_zero(stream)));
    case SpreadShape::kUniform: return job_seconds(first + (second - first) * stream.next_unit());
    case SpreadShape::kLognormal: {
      const double radius = std::sqrt(-2.0 * std::log(unit_above_zero(stream)));
      return job_seconds(first * std::exp(second * radius * std::cos(2.0 * std::numbers::pi * stream.next_unit())));
    }
    case SpreadShape::kWeibull: return job_seconds(first * std::pow(-std::log(unit_above_zero(stream)), 1.0 / second));
  }
  return {};
}

std::vector<std::string> names_in(const ConfigMap& map) {
  return map.documenting() ? std::vector<std::string>{"NAME"} : map.keys();
}

double read_seconds(ConfigMap& map, const SecondsKey& key) {
  // A required key is reported as missing by the reader of texts.
  const std::optional<std::string> fallback =
      key.fallback ? std::optional(fmt::format("{} s", *key.fallback)) : std::nullopt;
  const std::string text = map.text({.name = key.name, .doc = key.doc, .fallback = fallback});
  if (const auto seconds = parse_seconds(text)) return *seconds;
  if (map.has(key.name)) {
    map.error(key.name, "E401", fmt::format("{} is '{}' and must be a time", map.path_of(key.name), text),
              std::string(kTimeHint));
  }
  return key.fallback.value_or(1.0);
}

Spread read_spread(ConfigMap& map, const SpreadKey& key) {
  if (!map.has(key.name) && key.fallback && !map.documenting()) return *key.fallback;
  if (map.has_map(key.name)) return read_spread_map(map.map(key.name, key.doc));
  const auto fallback = key.fallback ? std::optional(key.fallback->mean()) : std::nullopt;
  return Spread::fixed(read_seconds(map, {.name = key.name, .doc = key.doc, .fallback = fallback}));
}

}  // namespace ringwright::planning
