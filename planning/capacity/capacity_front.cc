#include "planning/capacity/capacity_front.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

namespace ringwright::planning {
namespace {

constexpr double kTie = 1e-3;

using Burdens = std::array<double, 4>;

Burdens burdens_of(const LayoutOffer& layout, bool priced) {
  return {layout.days, static_cast<double>(layout.gpus), priced ? layout.usd.value_or(0.0) : 0.0,
          static_cast<double>(layout.memory.count())};
}

}  // namespace

bool beats(std::span<const double> first, std::span<const double> second) {
  return std::ranges::equal(first, second, std::ranges::less_equal()) &&
         !std::ranges::equal(first, second, [](double a, double b) { return a >= b * (1.0 - kTie); });
}

std::vector<LayoutOffer> capacity_front(std::vector<LayoutOffer> layouts, const CapacityBudget& budget) {
  std::erase_if(layouts, [&](const LayoutOffer& layout) {
    return (budget.days && layout.days > *budget.days) || (budget.gpus && layout.gpus > *budget.gpus) ||
           (budget.usd && layout.usd.value_or(0.0) > *budget.usd) ||
           (budget.megawatt_hours && layout.megawatt_hours.value_or(0.0) > *budget.megawatt_hours);
  });
  const bool priced = std::ranges::all_of(layouts, [](const LayoutOffer& layout) { return layout.usd.has_value(); });
  std::vector<Burdens> burdens;
  for (const LayoutOffer& layout : layouts) burdens.push_back(burdens_of(layout, priced));
  std::vector<LayoutOffer> front;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const bool beaten = std::ranges::any_of(burdens, [&](const Burdens& other) { return beats(other, burdens[i]); });
    if (!beaten) front.push_back(std::move(layouts[i]));
  }
  std::ranges::stable_sort(
      front, {}, [](const LayoutOffer& layout) { return std::tuple(layout.days, layout.gpus, layout.memory.count()); });
  return front;
}

}  // namespace ringwright::planning
