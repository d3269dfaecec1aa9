#include "planning/operation/operation.h"

#include <algorithm>
#include <cmath>

namespace ringwright::planning {

double Restart::init_seconds(std::int64_t ranks) const {
  return init_base + init_per_rank * std::pow(static_cast<double>(ranks), init_exponent);
}

namespace {

double mean_factor(const ComponentClass& part, std::int64_t hosts) {
  double sum = 0.0;
  for (std::int64_t host = 0; host < hosts; ++host) sum += part.factor_at(host);
  return sum / static_cast<double>(hosts);
}

}  // namespace

double ComponentClass::highest_factor() const {
  return place_factors.empty() ? 1.0 : std::ranges::max(place_factors);
}

double Operation::faults_per_hour() const {
  double sum = 0.0;
  for (const ComponentClass& part : components) {
    double units = 1.0;
    if (part.per == Exposed::kGpu) units = static_cast<double>(job.gpus);
    if (part.per == Exposed::kHost) units = static_cast<double>(job.hosts());
    double each = part.lifetime ? 3600.0 / part.lifetime->mean() : part.per_hour;
    if (!part.place_factors.empty()) each *= mean_factor(part, job.hosts());
    const double lemon = part.per == Exposed::kJob ? 1.0 : 1.0 + lemons.share * (lemons.factor - 1.0);
    if (part.times.empty()) {
      sum += units * each * lemon;
    } else if (length.duration) {
      sum += static_cast<double>(part.times.size()) / hours_of(*length.duration);
    }
  }
  return sum;
}

}  // namespace ringwright::planning
