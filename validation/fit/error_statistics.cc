#include "validation/fit/error_statistics.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace ringwright::validation {
namespace {

int sign_of(double difference) { return (difference > 0.0) - (difference < 0.0); }

}  // namespace

double relative_error(const PredictedMeasured& pair) {
  CHECK(pair.measured > 0.0, "a measured time or rate is above 0");
  return pair.predicted / pair.measured - 1.0;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

ErrorStatistics error_statistics(std::span<const PredictedMeasured> pairs) {
  ErrorStatistics statistics{.count = pairs.size()};
  if (pairs.empty()) return statistics;
  std::vector<double> absolute;
  double logarithms = 0.0;
  for (const PredictedMeasured& pair : pairs) {
    const double error = relative_error(pair);
    statistics.mean_error += error;
    statistics.mean_abs += std::abs(error);
    statistics.max_abs = std::max(statistics.max_abs, std::abs(error));
    logarithms += std::abs(std::log(pair.predicted / pair.measured));
    absolute.push_back(std::abs(error));
  }
  const auto count = static_cast<double>(pairs.size());
  statistics.mean_error /= count;
  statistics.mean_abs /= count;
  statistics.geometric_mean_abs = std::expm1(logarithms / count);
  statistics.median_abs = percentile(absolute, 0.5);
  statistics.p95_abs = percentile(std::move(absolute), 0.95);
  return statistics;
}

double kendall_tau(std::span<const PredictedMeasured> pairs) {
  double agreement = 0.0;
  double untied_predicted = 0.0;
  double untied_measured = 0.0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int predicted = sign_of(pairs[i].predicted - pairs[j].predicted);
      const int measured = sign_of(pairs[i].measured - pairs[j].measured);
      agreement += predicted * measured;
      untied_predicted += std::abs(predicted);
      untied_measured += std::abs(measured);
    }
  }
  const double scale = std::sqrt(untied_predicted * untied_measured);
  return scale > 0.0 ? agreement / scale : 0.0;
}

}  // namespace ringwright::validation
