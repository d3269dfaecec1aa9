#include "planning/operation/statistics.h"

#include <algorithm>
#include <cmath>

namespace ringwright::planning {
namespace {

constexpr double kMedianConfidence = 0.95;

// Of Binomial(n, 1/2) at k.
double fair_coin(int n, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) - n * std::log(2.0));
}

}  // namespace

MedianRanks median_ranks(int count) {
  MedianRanks ranks{.low = 1, .high = count, .confidence = 1.0};
  for (const int end : {0, count}) ranks.confidence -= fair_coin(count, end);
  // From outside in, as long as the rest holds.
  for (int low = 2; low <= count / 2; ++low) {
    const double narrower = ranks.confidence - 2.0 * fair_coin(count, low - 1);
    if (narrower < kMedianConfidence) break;
    ranks = {.low = low, .high = count + 1 - low, .confidence = narrower};
  }
  return ranks;
}

Summary summarise_values(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  Summary summary{.least = values.front(), .most = values.back()};
  for (const double value : values) summary.mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  if (values.size() > 1) summary.error = std::sqrt(squares / (count - 1.0) / count);
  const std::size_t middle = values.size() / 2;
  summary.median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
  const MedianRanks ranks = median_ranks(static_cast<int>(values.size()));
  summary.low = values[static_cast<std::size_t>(ranks.low - 1)];
  summary.high = values[static_cast<std::size_t>(ranks.high - 1)];
  return summary;
}

}  // namespace ringwright::planning
