#include "planning/stages/stage_plans.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::planning::stage_plans_test {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

std::vector<PlannedLayer> some_layers(std::uint64_t seed, int count) {
  RandomStream random(seed, "layers");
  std::vector<PlannedLayer> layers;
  for (int i = 0; i < count; ++i) {
    layers.push_back({.seconds = 0.5 + random.next_unit(), .weights = 4.0 * random.next_unit(),
                      .activation = 2.0 * random.next_unit()});
  }
  return layers;
}

// Every division of the layers from `first` on, with every share of the devices.
double slowest_by_force(const std::vector<PlannedLayer>& layers, int first, int devices, double bandwidth) {
  const auto count = static_cast<int>(layers.size());
  if (first == count) return devices == 0 ? 0.0 : kNone;
  double best = kNone;
  double seconds = 0.0, weights = 0.0;
  for (int last = first; last < count; ++last) {
    seconds += layers[static_cast<std::size_t>(last)].seconds;
    weights += layers[static_cast<std::size_t>(last)].weights;
    for (int own = 1; own <= devices; ++own) {
      const double stage = std::max(seconds, 4.0 * (own - 1) / own * weights / bandwidth) / own;
      const double boundary =
          last + 1 == count ? 0.0 : 2.0 * layers[static_cast<std::size_t>(last)].activation / bandwidth;
      best = std::min(best, std::max({stage, boundary, slowest_by_force(layers, last + 1, devices - own, bandwidth)}));
    }
  }
  return best;
}

TEST(StagePlans, PipedreamFindsTheBestOfAllPlans) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<PlannedLayer> layers = some_layers(seed, 5);
    const double bandwidth = seed % 2 == 0 ? 1.0 : 10.0;
    const StagePlan plan = pipedream_plan(layers, 5, bandwidth);
    EXPECT_NEAR(plan.seconds, slowest_by_force(layers, 0, 5, bandwidth), 1e-12) << seed;
    int devices = 0, next = 0;
    for (const PlannedStage& stage : plan.stages) {
      EXPECT_EQ(stage.first, next);
      next = stage.last + 1;
      devices += stage.devices;
    }
    EXPECT_EQ(next, 5);
    EXPECT_EQ(devices, 5);
  }
}

// Weights that are cheap to synchronise are replicated (ResNet-50 in the paper: data parallelism), and weights that are
// not are divided into stages.
TEST(StagePlans, PipedreamReplicatesSmallWeightsAndDividesLargeOnes) {
  const std::vector<PlannedLayer> small(8, {.seconds = 1.0, .weights = 1e-6, .activation = 1.0});
  EXPECT_EQ(pipedream_plan(small, 4, 1.0).stages.size(), 1U);
  EXPECT_EQ(pipedream_in_flight(pipedream_plan(small, 4, 1.0), 4), 1);
  const std::vector<PlannedLayer> large(8, {.seconds = 1.0, .weights = 100.0, .activation = 1e-6});
  const StagePlan straight = pipedream_plan(large, 4, 1.0);
  EXPECT_EQ(straight.stages.size(), 4U);
  EXPECT_DOUBLE_EQ(straight.seconds, 2.0);
  EXPECT_EQ(pipedream_in_flight(straight, 4), 4);
}

// Sum and largest of every division into stages on submeshes.
double alpa_by_force(const AlpaProblem& problem, const StageCost& cost, int first, int devices, double sum,
                     double slowest) {
  if (first == problem.layers) {
    return devices == 0 ? sum + static_cast<double>(problem.microbatches - 1) * slowest : kNone;
  }
  double best = kNone;
  for (int last = first; last < problem.layers; ++last) {
    for (const int own : problem.submeshes) {
      const std::optional<double> seconds = cost(first, last, own);
      if (own > devices || !seconds) continue;
      best = std::min(best, alpa_by_force(problem, cost, last + 1, devices - own, sum + *seconds,
                                          std::max(slowest, *seconds)));
    }
  }
  return best;
}

TEST(StagePlans, AlpaFindsTheBestOfAllPlans) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<PlannedLayer> layers = some_layers(seed, 5);
    const auto cost = [&](int first, int last, int devices) -> std::optional<double> {
      double seconds = 0.0, weights = 0.0;
      for (int i = first; i <= last; ++i) {
        seconds += layers[static_cast<std::size_t>(i)].seconds;
        weights += layers[static_cast<std::size_t>(i)].weights;
      }
      if (weights > 6.0 * devices) return std::nullopt;  // does not fit
      return seconds / devices + 0.1 * (devices - 1);
    };
    const AlpaProblem problem{.layers = 5, .devices = 6, .submeshes = {1, 2, 4},
                              .microbatches = static_cast<std::int64_t>(1 + seed % 9)};
    const std::optional<StagePlan> plan = alpa_plan(problem, cost);
    const double forced = alpa_by_force(problem, cost, 0, problem.devices, 0.0, 0.0);
    ASSERT_EQ(plan.has_value(), forced < kNone) << seed;
    if (!plan) continue;
    EXPECT_NEAR(plan->seconds, forced, 1e-12) << seed;
  }
}

TEST(StagePlans, AlpaHasNoPlanWhereNothingFits) {
  const AlpaProblem problem{.layers = 3, .devices = 2, .submeshes = {1, 2}, .microbatches = 4};
  EXPECT_FALSE(alpa_plan(problem, [](int, int, int) { return std::nullopt; }).has_value());
}

}  // namespace
}  // namespace ringwright::planning::stage_plans_test
