// A distribution as a few numbers of a result: all values where they are few, else percentiles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ringwright::planning {

inline constexpr std::size_t kMostQuantiles = 101;

// Ascending. Of more than kMostQuantiles values the percentiles 0 to 100 by nearest rank, as the 0th the smallest.
[[nodiscard]] std::vector<double> quantiles_of(std::vector<double> values);

// "[1, 2.5]", each number with six digits at most.
[[nodiscard]] std::string json_numbers(const std::vector<double>& values);

}  // namespace ringwright::planning
