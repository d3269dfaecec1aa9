#include "workload/options/layer_balance.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::workload::layer_balance_test {
namespace {

using testing::ElementsAre;

TEST(LayerBalance, MakesTheCostliestPartCheap) {
  // The logits cost as much as two layers: 8 + 8 + 8 + (6 + 2).
  EXPECT_THAT(balance_layers({.layers = std::vector<double>(30, 1.0), .first = 0.0, .last = 2.0}, 4),
              ElementsAre(8, 8, 8, 6));
  // Dense layers are cheap: three of them cost as much as one with experts.
  EXPECT_THAT(balance_layers({.layers = {1, 1, 1, 3, 3, 3}, .first = 0.0, .last = 0.0}, 4), ElementsAre(3, 1, 1, 1));
}

TEST(LayerBalance, IsEvenWhereTheMaximumLeavesAChoice) {
  // A maximum of 3 allows 3 3 1, too.
  EXPECT_THAT(balance_layers({.layers = std::vector<double>(7, 1.0), .first = 0.0, .last = 0.0}, 3),
              ElementsAre(2, 2, 3));
}

TEST(LayerBalance, MayLeaveAnEndWithoutLayers) {
  EXPECT_THAT(balance_layers({.layers = {1, 1}, .first = 0.0, .last = 5.0}, 3), ElementsAre(1, 1, 0));
}

// The largest cost of a chunk, and the sum of squares.
using Score = std::pair<double, double>;

Score score_of(const LayerCosts& costs, const std::vector<std::int64_t>& split) {
  Score score{0.0, 0.0};
  std::size_t layer = 0;
  for (std::size_t part = 0; part < split.size(); ++part) {
    double sum = (part == 0 ? costs.first : 0.0) + (part + 1 == split.size() ? costs.last : 0.0);
    for (std::int64_t i = 0; i < split[part]; ++i) sum += costs.layers[layer++];
    score = {std::max(score.first, sum), score.second + sum * sum};
  }
  return score;
}

// Of all splits of the layers that are left.
void find_best(const LayerCosts& costs, std::vector<std::int64_t>& split, std::size_t parts, std::int64_t left,
               Score& best) {
  if (split.size() + 1 == parts) {
    split.push_back(left);
    best = std::min(best, score_of(costs, split));
    split.pop_back();
    return;
  }
  for (std::int64_t own = 0; own <= left; ++own) {
    split.push_back(own);
    find_best(costs, split, parts, left - own, best);
    split.pop_back();
  }
}

// Quarters add up exactly. The numbers of chunks are asked for in an order that first extends, then looks back.
TEST(LayerBalance, IsTheBestOfAllSplitsForAnyNumberOfChunks) {
  RandomStream random(5, "balances");
  for (int round = 0; round < 30; ++round) {
    LayerCosts costs{.layers = std::vector<double>(3 + random.next_below(5))};
    for (double& layer : costs.layers) layer = 1.0 + 0.25 * static_cast<double>(random.next_below(4));
    costs.first = 0.25 * static_cast<double>(random.next_below(6));
    costs.last = 0.25 * static_cast<double>(random.next_below(12));
    LayerBalance balance(costs);
    for (const int parts : {3, 1, 4, 2, 3}) {
      Score best{1e9, 0.0};
      std::vector<std::int64_t> split;
      find_best(costs, split, static_cast<std::size_t>(parts), static_cast<std::int64_t>(costs.layers.size()), best);
      EXPECT_EQ(score_of(costs, balance.over(parts)), best) << round << " " << parts;
      EXPECT_EQ(balance.over(parts), balance_layers(costs, parts));
    }
  }
}

// Chunks without layers are enough then; the same on chunks of equal speed, which are followed to the last one.
TEST(LayerBalance, IsTheSameOnMoreChunksThanLayers) {
  RandomStream random(6, "balances");
  for (int round = 0; round < 30; ++round) {
    LayerCosts costs{.layers = std::vector<double>(1 + random.next_below(6))};
    for (double& layer : costs.layers) layer = 1.0 + 0.25 * static_cast<double>(random.next_below(4));
    costs.first = 0.25 * static_cast<double>(random.next_below(6));
    costs.last = 0.25 * static_cast<double>(random.next_below(12));
    LayerBalance balance(costs);
    for (const std::size_t parts : {5U, 24U, 9U, 8U, 7U}) {
      EXPECT_EQ(balance.over(static_cast<int>(parts)), balance_layers_on(std::vector<LayerCosts>(parts, costs), {}))
          << round << " " << parts;
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::layer_balance_test
