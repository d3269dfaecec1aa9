// Errors of predictions against measurements: the few figures that every validation table prints.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringwright::validation {

struct PredictedMeasured {
  double predicted = 0.0;
  double measured = 0.0;  // above 0, in the same unit
};

// predicted / measured - 1.
[[nodiscard]] double relative_error(const PredictedMeasured& pair);

struct ErrorStatistics {
  std::size_t count = 0;
  double mean_error = 0.0;      // signed: above 0, predictions are too high
  double mean_abs = 0.0;        // of |predicted / measured - 1|
  double median_abs = 0.0;
  double p95_abs = 0.0;
  double max_abs = 0.0;
  // exp(mean |ln(predicted / measured)|) - 1: a factor of two too much weighs as much as one too little. The figure of
  // the collectives' targets.
  double geometric_mean_abs = 0.0;
};

// All zero for no pairs.
[[nodiscard]] ErrorStatistics error_statistics(std::span<const PredictedMeasured> pairs);

// By nearest rank; `share` in [0, 1]. 0 for no values.
[[nodiscard]] double percentile(std::vector<double> values, double share);

// Kendall's tau-b between the two orders: 1 the same ranking, -1 the reverse, 0 for fewer than two pairs or when one
// side is all ties. (Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945.)
[[nodiscard]] double kendall_tau(std::span<const PredictedMeasured> pairs);

}  // namespace ringwright::validation
