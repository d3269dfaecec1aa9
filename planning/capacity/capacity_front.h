// The Pareto front over time, money, GPUs and memory, of all layouts on all machines of a capacity study.
#pragma once

#include <span>
#include <vector>

#include "planning/capacity/capacity.h"

namespace ringwright::planning {

// Whether the first is as good as the second in all respects, less being better, and better in one by more than a
// thousandth: less is no difference that a simulation predicts.
[[nodiscard]] bool beats(std::span<const double> first, std::span<const double> second);

// Removes the layouts that are over the budget, and those that another one beats: in days, money (where every machine
// has a price), GPUs and memory per GPU. Fastest first.
[[nodiscard]] std::vector<LayoutOffer> capacity_front(std::vector<LayoutOffer> layouts, const CapacityBudget& budget);

}  // namespace ringwright::planning
