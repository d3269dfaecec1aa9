#include "workload/options/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/random.h"

namespace ringwright::workload {
namespace {

double kept(double load, double capacity) {
  return capacity > 0.0 ? std::min(load, capacity) : load;
}

// To a mean of 1, without an expert above `most`.
void normalise(std::vector<double>& loads, double most) {
  std::vector<bool> full(loads.size());
  for (bool changed = true; changed;) {
    double left = static_cast<double>(loads.size()), others = 0.0;
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
      if (full[expert]) left -= most;
      if (!full[expert]) others += loads[expert];
    }
    changed = false;
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
      if (full[expert]) continue;
      loads[expert] *= left / others;
      if (loads[expert] <= most) continue;
      loads[expert] = most;
      full[expert] = changed = true;
    }
  }
}

}  // namespace

std::vector<double> draw_expert_loads(const ExpertShape& shape, double deviation, std::uint64_t seed) {
  RandomStream random(seed, "router load");
  const double sigma = std::sqrt(std::log(1.0 + deviation * deviation));
  std::vector<double> loads;
  for (std::int64_t expert = 0; expert < shape.count; ++expert) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.next_unit()));
    loads.push_back(std::exp(sigma * radius * std::cos(2.0 * std::numbers::pi * random.next_unit())));
  }
  normalise(loads, static_cast<double>(shape.count) / static_cast<double>(shape.per_token));
  return loads;
}

std::vector<double> loads_of_ranks(const std::vector<double>& experts, int ranks, double capacity) {
  const std::size_t local = experts.size() / static_cast<std::size_t>(ranks);
  std::vector<double> loads(static_cast<std::size_t>(ranks));
  for (std::size_t expert = 0; expert < local * loads.size(); ++expert) {
    loads[expert / local] += kept(experts[expert], capacity) / static_cast<double>(local);
  }
  return loads;
}

double dropped_share(const std::vector<double>& experts, double capacity) {
  if (experts.empty()) return 1.0 - kept(1.0, capacity);
  double sum = 0.0;
  for (const double load : experts) sum += kept(load, capacity);
  return std::max(0.0, 1.0 - sum / static_cast<double>(experts.size()));
}

}  // namespace ringwright::workload
