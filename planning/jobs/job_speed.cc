#include "planning/jobs/job_speed.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ringwright::planning {
namespace {

// At each size that of the locality, or of the next wider one that exists there.
std::map<int, double> rates_at(const SimulatedRates& rates, std::size_t locality) {
  std::map<int, double> by_size;
  for (const auto& [gpus, of_size] : rates) {
    for (std::size_t at = locality; at < kLocalities && !by_size.contains(gpus); ++at) {
      if (of_size[at] > 0.0) by_size.emplace(gpus, of_size[at]);
    }
  }
  return by_size;
}

}  // namespace

JobSpeed::JobSpeed(const ClusterShape& shape, const std::vector<SimulatedRates>& by_type) : shape_(shape) {
  for (const SimulatedRates& rates : by_type) {
    RatesOfType& of_type = by_type_.emplace_back();
    for (std::size_t at = 0; at < kLocalities; ++at) {
      of_type[at] = rates_at(rates, at);
      // No job comes to a locality without rates (simulated_rates).
      if (at > 0 && of_type[at].empty()) of_type[at] = of_type[at - 1];
    }
  }
}

Locality JobSpeed::best_locality(int gpus) const {
  if (gpus <= shape_.gpus_per_host) return Locality::kHost;
  return gpus <= shape_.gpus_per_host * shape_.hosts_per_unit ? Locality::kUnit : Locality::kFabric;
}

double JobSpeed::rate(std::uint32_t type, int gpus, Locality locality) const {
  if (by_type_.empty()) {
    return std::pow(static_cast<double>(gpus), given_.scaling) * given_.factor[static_cast<std::size_t>(locality)];
  }
  const RateBySize& rates = by_type_[type][static_cast<std::size_t>(locality)];
  const auto above = rates.lower_bound(gpus);
  if (above == rates.end()) return std::prev(above)->second;
  if (above->first == gpus) return above->second;
  if (above == rates.begin()) return above->second * gpus / above->first;
  const auto below = std::prev(above);
  const double share =
      std::log(static_cast<double>(gpus) / below->first) / std::log(static_cast<double>(above->first) / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

double JobSpeed::of(const ClusterJob& job, int gpus, Locality locality) const {
  return rate(job.type, gpus, locality) / rate(job.type, job.gpus, best_locality(job.gpus));
}

}  // namespace ringwright::planning
