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

// Recorded faults: as often as within the length of the job, were it without any.
double Operation::faults_per_hour(const ComponentClass& part) const {
  if (!part.times.empty()) {
    const JobTime healthy = length.duration ? *length.duration : *length.work;
    const auto count = std::ranges::count_if(part.times, [&](JobTime at) { return at < healthy; });
    return count > 0 ? static_cast<double>(count) / hours_of(healthy) : 0.0;
  }
  double units = 1.0;
  if (part.per == Exposed::kGpu) units = static_cast<double>(job.gpus);
  if (part.per == Exposed::kHost) units = static_cast<double>(job.hosts());
  double each = part.lifetime ? 3600.0 / part.lifetime->mean() : part.per_hour;
  if (!part.place_factors.empty()) each *= mean_factor(part, job.hosts());
  return units * each * (part.has_lemons() ? 1.0 + lemons.share * (lemons.factor - 1.0) : 1.0);
}

double ComponentClass::highest_factor() const {
  return place_factors.empty() ? 1.0 : std::ranges::max(place_factors);
}

double Operation::faults_per_hour() const {
  double sum = 0.0;
  for (const ComponentClass& part : components) sum += faults_per_hour(part);
  return sum;
}

double Operation::recoveries_per_hour() const {
  double sum = 0.0;
  for (const ComponentClass& part : components) {
    double share = 1.0;
    if (part.kind == FaultKind::kSlow) {
      const double lasts = part.lasts.mean();
      const bool ends = lasts > 0.0 && lasts <= detection_of(part).mean();
      share = part.evicts && !ends ? 1.0 : 0.0;
    } else if (part.kind == FaultKind::kCorruption) {
      share = part.found;
    }
    sum += share * faults_per_hour(part);
  }
  return sum;
}

}  // namespace ringwright::planning
