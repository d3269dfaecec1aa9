#include "planning/jobs/job_speed.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ringwright::planning {
namespace {

// Of the locality, or of the next wider one that exists.
double rate_at(const std::array<double, kLocalities>& rates, Locality locality) {
  for (auto at = static_cast<std::size_t>(locality); at < kLocalities; ++at) {
    if (rates[at] > 0.0) return rates[at];
  }
  return rates.back();
}

}  // namespace

Locality JobSpeed::best_locality(int gpus) const {
  if (gpus <= shape_.gpus_per_host) return Locality::kHost;
  return gpus <= shape_.gpus_per_host * shape_.hosts_per_unit ? Locality::kUnit : Locality::kFabric;
}

double JobSpeed::rate(std::uint32_t type, int gpus, Locality locality) const {
  if (by_type_.empty()) {
    return std::pow(static_cast<double>(gpus), given_.scaling) * given_.factor[static_cast<std::size_t>(locality)];
  }
  const SimulatedRates& rates = by_type_[type];
  const auto above = rates.lower_bound(gpus);
  if (above == rates.end()) return rate_at(std::prev(above)->second, locality);
  if (above->first == gpus || above == rates.begin()) {
    const double whole = rate_at(above->second, locality);
    return above->first == gpus ? whole : whole * gpus / above->first;
  }
  const auto below = std::prev(above);
  const double low = rate_at(below->second, locality);
  const double high = rate_at(above->second, locality);
  const double share = std::log(static_cast<double>(gpus) / below->first) /
                       std::log(static_cast<double>(above->first) / below->first);
  return low * std::pow(high / low, share);
}

double JobSpeed::of(const ClusterJob& job, int gpus, Locality locality) const {
  return rate(job.type, gpus, locality) / rate(job.type, job.gpus, best_locality(job.gpus));
}

}  // namespace ringwright::planning
