// Values drawn for the keys of a sweep: independent ones, or a Latin hypercube.
//
//   random            each value is drawn on its own
//   latin hypercube   a range is cut into as many strata of equal probability as there are samples, and each stratum
//                     gives one value, in an order shuffled per key (McKay, Beckman and Conover, Technometrics 21,
//                     1979)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace ringwright::planning {

enum class Scale { kLinear, kLogarithmic };

// Both ends included; whole numbers where both ends are written as whole numbers without a unit.
struct ValueRange {
  double from = 0.0;
  double to = 0.0;
  std::string unit;  // "Gbps", "%", or none
  bool whole = false;
  Scale scale = Scale::kLinear;

  // `position` in [0, 1).
  [[nodiscard]] std::string at(double position) const;
};

// Fails with what is wrong: units of two kinds, ends in the wrong order, a logarithmic range from 0.
[[nodiscard]] tl::expected<ValueRange, std::string> make_range(std::string_view from, std::string_view to, Scale scale);

struct SampledKey {
  std::string key;
  std::optional<ValueRange> range;
  std::vector<std::string> choices;  // where there is no range

  [[nodiscard]] std::string at(double position) const;
};

enum class Sampling { kRandom, kLatinHypercube };

struct SampleBlock {
  Sampling sampling = Sampling::kRandom;
  std::size_t samples = 0;
  std::vector<SampledKey> keys;
};

// By sample, by key. A key's values do not depend on which other keys are sampled.
[[nodiscard]] std::vector<std::vector<std::string>> draw(const SampleBlock& block, std::uint64_t seed);

}  // namespace ringwright::planning
