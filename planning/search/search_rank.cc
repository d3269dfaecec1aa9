#include "planning/search/search_rank.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace ringwright::planning {
namespace {

// Ties: the faster one, then the smaller one, then the first in the space.
auto order_of(const Configuration& configuration, const configs::Prediction& prediction, configs::Objective objective) {
  return std::tuple(score(prediction, configuration.fullest.total, objective), prediction.step_time.mean,
                    configuration.fullest.total, configuration.index);
}

}  // namespace

double score(const configs::Prediction& prediction, Bytes memory, configs::Objective objective) {
  switch (objective) {
    case configs::Objective::kStepTime: return to_seconds(prediction.step_time.mean);
    case configs::Objective::kTokensPerSecond: return -prediction.tokens_per_second_per_gpu;
    case configs::Objective::kModelFlopUtilisation: return -prediction.model_flop_utilisation.value_or(0.0);
    case configs::Objective::kMemory: return static_cast<double>(memory.count());
  }
  return 0.0;
}

void rank_by_formulas(std::vector<Configuration>& configurations, configs::Objective objective) {
  std::ranges::sort(configurations, [objective](const Configuration& a, const Configuration& b) {
    return order_of(a, *a.quick, objective) < order_of(b, *b.quick, objective);
  });
}

void rank_replayed(std::span<Configuration> configurations, configs::Objective objective) {
  std::ranges::sort(configurations, [objective](const Configuration& a, const Configuration& b) {
    return order_of(a, *a.played, objective) < order_of(b, *b.played, objective);
  });
}

std::optional<double> agreement(std::span<const Configuration> replayed, configs::Objective objective) {
  std::int64_t sum = 0, by_formulas = 0, as_played = 0;  // pairs that are not tied
  const auto order = [](double a, double b) { return a < b ? -1 : b < a ? 1 : 0; };
  for (std::size_t i = 0; i < replayed.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Configuration& a = replayed[i];
      const Configuration& b = replayed[j];
      const int quick = order(score(*a.quick, a.fullest.total, objective), score(*b.quick, b.fullest.total, objective));
      const int played =
          order(score(*a.played, a.fullest.total, objective), score(*b.played, b.fullest.total, objective));
      sum += quick * played;
      by_formulas += std::abs(quick);
      as_played += std::abs(played);
    }
  }
  if (by_formulas == 0 || as_played == 0) return std::nullopt;
  return static_cast<double>(sum) / std::sqrt(static_cast<double>(by_formulas) * static_cast<double>(as_played));
}

std::vector<std::size_t> pareto_front(std::span<const Configuration> configurations) {
  std::vector<std::size_t> order(configurations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const Configuration& x = configurations[a];
    const Configuration& y = configurations[b];
    return std::tuple(x.fullest.total, x.quick->step_time.mean, x.index) <
           std::tuple(y.fullest.total, y.quick->step_time.mean, y.index);
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    if (front.empty() || configurations[i].quick->step_time.mean < configurations[front.back()].quick->step_time.mean) {
      front.push_back(i);
    }
  }
  return front;
}

std::optional<DifferingTerm> largest_difference(const TimeBreakdown& faster, const TimeBreakdown& slower) {
  std::map<std::string, Duration> more;
  more["computing"] = slower.computing - faster.computing;
  more["bubble"] = slower.idle - faster.idle;
  for (const DimensionTime& dimension : slower.dimensions) more["exposed " + dimension.name] += dimension.exposed;
  for (const DimensionTime& dimension : faster.dimensions) {
    Duration& term = more["exposed " + dimension.name];
    term = term - dimension.exposed;
  }
  const bool longer = slower.total >= faster.total;
  std::optional<DifferingTerm> largest;
  for (const auto& [name, duration] : more) {
    const Duration towards = longer ? duration : Duration(0) - duration;
    if (towards <= Duration(0)) continue;
    const Duration best = !largest ? Duration(0) : longer ? largest->more : Duration(0) - largest->more;
    if (towards > best) largest = DifferingTerm{.name = name, .more = duration};
  }
  return largest;
}

}  // namespace ringwright::planning
