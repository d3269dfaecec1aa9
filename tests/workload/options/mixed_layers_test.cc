// Layers over chunks of different speed and room, against every split.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "workload/options/layer_balance.h"

namespace ringwright::workload::mixed_layers_test {
namespace {

using testing::ElementsAre;
using testing::Optional;

LayerCosts costs_of(std::vector<double> layers, double scale) {
  for (double& layer : layers) layer *= scale;
  return {.layers = layers, .first = 0.5 * scale, .last = 1.5 * scale};
}

struct Problem {
  std::vector<LayerCosts> costs;
  std::vector<std::int64_t> most;
};

double time_of(const Problem& problem, const std::vector<std::int64_t>& split) {
  double slowest = 0.0;
  std::size_t layer = 0;
  for (std::size_t part = 0; part < split.size(); ++part) {
    double time = (part == 0 ? problem.costs[part].first : 0.0) +
                  (part + 1 == split.size() ? problem.costs[part].last : 0.0);
    for (std::int64_t i = 0; i < split[part]; ++i) time += problem.costs[part].layers[layer++];
    slowest = std::max(slowest, time);
  }
  return slowest;
}

// The least time over every split within the room; empty: there is none.
std::optional<double> least(const Problem& problem, std::vector<std::int64_t>& split, std::int64_t rest) {
  const std::size_t part = split.size();
  if (part == problem.costs.size()) return rest == 0 ? std::optional(time_of(problem, split)) : std::nullopt;
  std::optional<double> best;
  for (std::int64_t own = 0; own <= std::min(rest, problem.most[part]); ++own) {
    split.push_back(own);
    const auto time = least(problem, split, rest - own);
    split.pop_back();
    if (time && (!best || *time < *best)) best = time;
  }
  return best;
}

// Twelve equal layers, the second chunk on GPUs of half the speed: 8 x 1 s = 4 x 2 s.
TEST(MixedLayers, AreProportionalToSpeed) {
  const std::vector<LayerCosts> costs = {{.layers = std::vector<double>(12, 1.0)},
                                         {.layers = std::vector<double>(12, 2.0)}};
  EXPECT_THAT(balance_layers_on(costs, {}), Optional(ElementsAre(8, 4)));
}

TEST(MixedLayers, RespectTheRoomOfAChunk) {
  const std::vector<LayerCosts> costs = {{.layers = std::vector<double>(12, 1.0)},
                                         {.layers = std::vector<double>(12, 2.0)}};
  EXPECT_THAT(balance_layers_on(costs, std::vector<std::int64_t>{5, 12}), Optional(ElementsAre(5, 7)));
  EXPECT_EQ(balance_layers_on(costs, std::vector<std::int64_t>{5, 6}), std::nullopt);
}

TEST(MixedLayers, NoOtherSplitIsFaster) {
  RandomStream random(11, "layers");
  for (int round = 0; round < 100; ++round) {
    std::vector<double> layers(3 + random.next_below(6));
    for (double& layer : layers) layer = 1.0 + 0.25 * static_cast<double>(random.next_below(4));
    Problem problem;
    const std::size_t parts = 1 + random.next_below(4);
    for (std::size_t part = 0; part < parts; ++part) {
      problem.costs.push_back(costs_of(layers, 1.0 + 0.5 * static_cast<double>(random.next_below(5))));
      problem.most.push_back(static_cast<std::int64_t>(random.next_below(layers.size() + 1)));
    }
    std::vector<std::int64_t> split;
    const auto best = least(problem, split, static_cast<std::int64_t>(layers.size()));
    const auto found = balance_layers_on(problem.costs, problem.most);
    ASSERT_EQ(best.has_value(), found.has_value()) << "round " << round;
    if (!best) continue;
    EXPECT_DOUBLE_EQ(time_of(problem, *found), *best) << "round " << round;
  }
}

}  // namespace
}  // namespace ringwright::workload::mixed_layers_test
