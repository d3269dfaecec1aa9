// Which configuration is better, and what makes the difference.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planning/search/search.h"

namespace ringwright::planning {

// The less the better.
[[nodiscard]] double score(const configs::Prediction& prediction, Bytes memory, configs::Objective objective);

// Orders by what formulas say; then the first `replayed`, for which `played` is there, by what was played.
void rank_by_formulas(std::vector<Configuration>& configurations, configs::Objective objective);
void rank_replayed(std::span<Configuration> configurations, configs::Objective objective);

// Kendall's tau-b between scores by formulas and as played; nothing where one of them ties all or there are fewer than
// two.
[[nodiscard]] std::optional<double> agreement(std::span<const Configuration> replayed, configs::Objective objective);

// By formulas: indices of configurations than which no other is both as quick and smaller, or quicker and as small.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const Configuration> configurations);

// The part of a training step that says most of why `slower` takes longer; negative where it is in fact quicker.
struct DifferingTerm {
  std::string name;  // "computing", "exposed tp", "bubble"
  Duration more;
};
[[nodiscard]] std::optional<DifferingTerm> largest_difference(const TimeBreakdown& quicker,
                                                              const TimeBreakdown& slower);

}  // namespace ringwright::planning
