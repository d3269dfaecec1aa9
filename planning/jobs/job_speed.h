// How fast a job runs on some GPUs: 1 on those that it asks for at their best locality.
//
// Given: the speed grows with the GPUs to the power of `scaling`, and is multiplied by a factor of the locality.
// Simulated: rates of training steps at sizes that double, one for each locality; sizes between are interpolated
// (log-log), and beyond the largest the rate no longer grows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "planning/jobs/cluster_job.h"

namespace ringwright::planning {

// Where the GPUs of a job lie: in one host, in one unit, or anywhere.
enum class Locality : std::uint8_t { kHost, kUnit, kFabric };
inline constexpr std::size_t kLocalities = 3;

struct GivenSpeed {
  double scaling = 1.0;
  std::array<double, kLocalities> factor{1.0, 1.0, 1.0};
};

// Steps per second by GPUs, at each locality; 0 where that cannot be (more GPUs than a host has).
using SimulatedRates = std::map<int, std::array<double, kLocalities>>;

class JobSpeed {
 public:
  JobSpeed(const ClusterShape& shape, const GivenSpeed& given) : shape_(shape), given_(given) {}
  // Each type has a rate at some size.
  JobSpeed(const ClusterShape& shape, const std::vector<SimulatedRates>& by_type);

  [[nodiscard]] double of(const ClusterJob& job, int gpus, Locality locality) const;
  [[nodiscard]] double at_best(const ClusterJob& job, int gpus) const { return of(job, gpus, best_locality(gpus)); }
  [[nodiscard]] Locality best_locality(int gpus) const;

 private:
  using RateBySize = std::map<int, double>;
  using RatesOfType = std::array<RateBySize, kLocalities>;

  [[nodiscard]] double rate(std::uint32_t type, int gpus, Locality locality) const;

  ClusterShape shape_;
  GivenSpeed given_;
  std::vector<RatesOfType> by_type_;  // empty: given
};

}  // namespace ringwright::planning
