#include "planning/operation/interval.h"

#include <cmath>

namespace ringwright::planning {

double young_interval(const CheckpointCost& cost) {
  return std::sqrt(2.0 * cost.stall * cost.between_failures);
}

double daly_interval(const CheckpointCost& cost) {
  if (cost.stall >= 2.0 * cost.between_failures) return cost.between_failures;
  const double half = cost.stall / (2.0 * cost.between_failures);
  return young_interval(cost) * (1.0 + std::sqrt(half) / 3.0 + half / 9.0) - cost.stall;
}

double exact_efficiency(const CheckpointCost& cost, double interval) {
  const double m = cost.between_failures;
  return interval / (m * std::exp(cost.recovery / m) * std::expm1((interval + cost.stall) / m));
}

double first_order_efficiency(const CheckpointCost& cost, double interval) {
  const double m = cost.between_failures;
  return 1.0 - cost.stall / interval - interval / (2.0 * m) - cost.recovery / m;
}

}  // namespace ringwright::planning
