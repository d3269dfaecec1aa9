// Which configuration is better, and what makes the difference.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planning/search/search.h"

namespace ringwright::planning {

// Lower is better.
[[nodiscard]] double score(const configs::Prediction& prediction, Bytes memory, configs::Objective objective);

// Orders by formulas; then the first `replayed`, for which `played` is there, by the simulation.
void rank_by_formulas(std::vector<Configuration>& configurations, configs::Objective objective);
void rank_replayed(std::span<Configuration> configurations, configs::Objective objective);

// Kendall's tau-b between the scores by formulas and by simulation; nothing where one of them ties all or there are
// fewer than two.
[[nodiscard]] std::optional<double> agreement(std::span<const Configuration> replayed, configs::Objective objective);

// Pareto front by formulas: indices of configurations that no other one beats in time or memory without losing in the
// other.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const Configuration> configurations);

// The share of a training step that explains most of why `slower` takes longer; negative where it is in fact faster.
struct DifferingTerm {
  std::string name;  // "computing", "exposed tp", "bubble"
  Duration more;
};
[[nodiscard]] std::optional<DifferingTerm> largest_difference(const TimeBreakdown& faster,
                                                              const TimeBreakdown& slower);

}  // namespace ringwright::planning
