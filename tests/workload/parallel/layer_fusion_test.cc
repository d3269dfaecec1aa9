#include "workload/parallel/layer_fusion.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::workload::layer_fusion_test {
namespace {

using testing::ElementsAre;

double end_of(const std::vector<ReadyGradient>& gradients, const GroupCost& cost,
              const std::vector<std::size_t>& ends) {
  double now = 0.0;
  std::size_t first = 0;
  for (const std::size_t last : ends) {
    double size = 0.0;
    for (std::size_t i = first; i < last; ++i) size += static_cast<double>(gradients[i].elements);
    now = std::max(now, gradients[last - 1].ready) + cost.overhead + cost.per_element * size;
    first = last;
  }
  return now;
}

// All 2^(n - 1) groupings: a bit for each place between two gradients.
double best_of_all(const std::vector<ReadyGradient>& gradients, const GroupCost& cost) {
  double best = 1e300;
  for (std::uint32_t cuts = 0; cuts < 1U << (gradients.size() - 1); ++cuts) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i < gradients.size(); ++i) {
      if ((cuts >> (i - 1) & 1U) != 0) ends.push_back(i);
    }
    ends.push_back(gradients.size());
    best = std::min(best, end_of(gradients, cost, ends));
  }
  return best;
}

TEST(LayerFusion, EndsAsEarlyAsTheBestOfAllGroupings) {
  RandomStream random(1, "layer fusion");
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<ReadyGradient> gradients;
    double ready = 0.0;
    for (std::uint64_t i = 0; i < 2 + random.next_below(9); ++i) {
      ready += random.next_unit();
      gradients.push_back({.elements = static_cast<std::int64_t>(1 + random.next_below(100)), .ready = ready});
    }
    const GroupCost cost{.overhead = random.next_unit(), .per_element = 0.03 * random.next_unit()};
    EXPECT_NEAR(end_of(gradients, cost, fused_groups(gradients, cost)), best_of_all(gradients, cost), 1e-9) << trial;
  }
}

// Without a cost of groups every gradient leaves at once; where only groups cost, one waits for all.
TEST(LayerFusion, HasGroupsOfOneOrOneGroup) {
  const std::vector<ReadyGradient> gradients{{10, 1.0}, {10, 2.0}, {10, 3.0}};
  EXPECT_THAT(fused_groups(gradients, {.overhead = 0.0, .per_element = 0.05}), ElementsAre(1, 2, 3));
  EXPECT_THAT(fused_groups(gradients, {.overhead = 5.0, .per_element = 0.0}), ElementsAre(3));
  EXPECT_TRUE(fused_groups({}, {}).empty());
}

}  // namespace
}  // namespace ringwright::workload::layer_fusion_test
