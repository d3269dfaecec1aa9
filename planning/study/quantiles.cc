#include "planning/study/quantiles.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::planning {

std::vector<double> quantiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  if (values.size() <= kMostQuantiles) return values;
  std::vector<double> chosen;
  for (std::size_t percent = 0; percent < kMostQuantiles; ++percent) {
    const std::size_t rank = (percent * values.size() + kMostQuantiles - 2) / (kMostQuantiles - 1);
    chosen.push_back(values[std::max<std::size_t>(rank, 1) - 1]);
  }
  return chosen;
}

std::string json_numbers(const std::vector<double>& values) {
  std::vector<std::string> words;
  for (const double value : values) words.push_back(fmt::format("{:.6g}", value));
  return "[" + join(words, ", ") + "]";
}

}  // namespace ringwright::planning
