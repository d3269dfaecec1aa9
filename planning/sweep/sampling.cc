#include "planning/sweep/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/base/units.h"
#include "core/config/scalar.h"

namespace ringwright::planning {
namespace {

struct NumberWithUnit {
  double number = 0.0;
  std::string unit;
  bool whole = false;
};

// The longest beginning that is a number; the rest is the unit. The G of 100Gbps is none of 100G.
std::optional<NumberWithUnit> split_unit(std::string_view text) {
  for (std::size_t length = text.size(); length > 0; --length) {
    const bool digits = text[length - 1] >= '0' && text[length - 1] <= '9';
    const auto number = read_number(text.substr(0, length));
    if (!number || (!digits && length < text.size())) continue;
    std::string_view unit = text.substr(length);
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    return NumberWithUnit{
        .number = *number, .unit = std::string(unit), .whole = unit.empty() && read_integer(text).has_value()};
  }
  return std::nullopt;
}

struct Quantity {
  enum class Kind { kDuration, kBytes, kBandwidth, kFlopRate, kShare } kind;
  double value = 0.0;  // in base units
};

std::optional<Quantity> quantity_of(std::string_view text) {
  using Kind = Quantity::Kind;
  if (const auto time = parse_duration(text)) return Quantity{Kind::kDuration, static_cast<double>(time->count())};
  if (const auto size = parse_bytes(text)) return Quantity{Kind::kBytes, static_cast<double>(size->count())};
  if (const auto rate = parse_bandwidth(text)) return Quantity{Kind::kBandwidth, rate->count()};
  if (const auto rate = parse_flop_rate(text)) return Quantity{Kind::kFlopRate, rate->count()};
  if (const auto share = read_percent(text)) return Quantity{Kind::kShare, *share};
  return std::nullopt;
}

// What is written as `text`, in units of `unit`: 2us are 2000 of "ns". Nothing where they measure different things.
std::optional<double> number_in(const std::string& unit, std::string_view text) {
  const auto value = quantity_of(text);
  const auto one = quantity_of("1" + unit);
  if (!value || !one || value->kind != one->kind) return std::nullopt;
  return value->value / one->value;
}

// Positions in [0, 1) of all samples of one key.
std::vector<double> positions(const SampleBlock& block, const std::string& key, std::uint64_t seed) {
  const bool latin = block.sampling == Sampling::kLatinHypercube;
  RandomStream stream(seed, (latin ? "sweep.latin_hypercube." : "sweep.random.") + key);
  std::vector<std::size_t> stratum(block.samples);
  std::iota(stratum.begin(), stratum.end(), std::size_t{0});
  if (latin) {
    for (std::size_t i = stratum.size(); i > 1; --i) std::swap(stratum[i - 1], stratum[stream.next_below(i)]);
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < block.samples; ++i) {
    const double unit = stream.next_unit();
    const double position =
        latin ? (static_cast<double>(stratum[i]) + unit) / static_cast<double>(block.samples) : unit;
    result.push_back(std::min(position, 1.0 - 0x1p-53));
  }
  return result;
}

}  // namespace

std::string ValueRange::at(double position) const {
  const double top = whole ? to + 1.0 : to;
  double value = scale == Scale::kLogarithmic ? from * std::pow(top / from, position) : from + position * (top - from);
  if (whole) return fmt::format("{}", static_cast<std::int64_t>(std::clamp(std::floor(value), from, to)));
  value = std::clamp(value, from, to);
  // Six digits show what a sample is; its text is its value.
  return fmt::format("{:.6g}{}", value, unit);
}

tl::expected<ValueRange, std::string> make_range(std::string_view from, std::string_view to, Scale scale) {
  const auto low = split_unit(from);
  auto high = split_unit(to);
  if (!low || !high) return tl::unexpected(fmt::format("'{}' is no number with a unit", !low ? from : to));
  if (low->unit != high->unit) {
    const auto same = number_in(low->unit, to);
    if (!same) return tl::unexpected(fmt::format("from {} to {}: both ends need a unit of one kind", from, to));
    high = NumberWithUnit{.number = *same, .unit = low->unit};
  }
  if (!(low->number < high->number)) return tl::unexpected(fmt::format("from {} to {}: it is empty", from, to));
  if (scale == Scale::kLogarithmic && !(low->number > 0.0)) {
    return tl::unexpected(fmt::format("from {}: a logarithmic range starts above 0", from));
  }
  constexpr double kLargestWhole = 1e15;
  const bool whole = low->whole && high->whole && std::abs(low->number) < kLargestWhole && high->number < kLargestWhole;
  return ValueRange{.from = low->number, .to = high->number, .unit = low->unit, .whole = whole, .scale = scale};
}

std::string SampledKey::at(double position) const {
  if (range) return range->at(position);
  const auto index = static_cast<std::size_t>(position * static_cast<double>(choices.size()));
  return choices[std::min(index, choices.size() - 1)];
}

std::vector<std::vector<std::string>> draw(const SampleBlock& block, std::uint64_t seed) {
  std::vector<std::vector<std::string>> samples(block.samples);
  for (const SampledKey& key : block.keys) {
    const std::vector<double> at = positions(block, key.key, seed);
    for (std::size_t i = 0; i < block.samples; ++i) samples[i].push_back(key.at(at[i]));
  }
  return samples;
}

}  // namespace ringwright::planning
