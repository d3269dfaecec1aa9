// Slow twin of the max-min solvers: textbook progressive filling, one link at a time, in exact rational arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

namespace ringwright::reference {

using Rational = boost::multiprecision::cpp_rational;

struct NaiveHop {
  std::uint32_t link = 0;
  double share = 1.0;  // taken as the exact binary fraction that it is
};
using NaiveRoute = std::vector<NaiveHop>;

// By flow. A flow without hops is not for this twin.
[[nodiscard]] inline std::vector<Rational> naive_max_min(const std::vector<double>& capacity,
                                                         const std::vector<NaiveRoute>& paths) {
  std::vector<Rational> remaining(capacity.begin(), capacity.end());
  std::vector<std::optional<Rational>> rate(paths.size());
  for (std::size_t frozen = 0; frozen < paths.size();) {
    std::vector<Rational> rising_share(capacity.size(), Rational(0));
    for (std::size_t f = 0; f < paths.size(); ++f) {
      if (rate[f]) continue;
      for (const NaiveHop& hop : paths[f]) rising_share[hop.link] += Rational(hop.share);
    }
    std::optional<Rational> lowest;
    std::size_t bottleneck = 0;
    for (std::size_t l = 0; l < capacity.size(); ++l) {
      if (rising_share[l] == 0) continue;
      const Rational level = remaining[l] / rising_share[l];
      if (lowest && *lowest <= level) continue;
      lowest = level;
      bottleneck = l;
    }
    for (std::size_t f = 0; f < paths.size(); ++f) {
      bool crosses = false;
      for (const NaiveHop& hop : paths[f]) crosses = crosses || hop.link == bottleneck;
      if (rate[f] || !crosses) continue;
      rate[f] = *lowest;
      ++frozen;
      for (const NaiveHop& hop : paths[f]) remaining[hop.link] -= Rational(hop.share) * *lowest;
    }
  }
  std::vector<Rational> result;
  for (const std::optional<Rational>& value : rate) result.push_back(*value);
  return result;
}

}  // namespace ringwright::reference
