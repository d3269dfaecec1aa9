#include "workload/options/expert_load.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::expert_load_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Le;

double sum(const std::vector<double>& loads) {
  return std::accumulate(loads.begin(), loads.end(), 0.0);
}

TEST(ExpertLoad, HasTheGivenDeviation) {
  const std::vector<double> loads = draw_expert_loads({.count = 20'000, .per_token = 1}, 0.5, 1);
  double squares = 0.0;
  for (const double load : loads) squares += (load - 1.0) * (load - 1.0);
  EXPECT_NEAR(sum(loads), 20'000.0, 1e-6);
  EXPECT_NEAR(std::sqrt(squares / 20'000.0), 0.5, 0.02);
}

// A token has each expert at most once: of 8 experts with 4 per token none has more than twice an equal share.
TEST(ExpertLoad, AnExpertHasEveryTokenAtMostOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<double> loads = draw_expert_loads({.count = 8, .per_token = 4}, 3.0, seed);
    EXPECT_NEAR(sum(loads), 8.0, 1e-9);
    EXPECT_THAT(loads, Each(Le(2.0)));
  }
  for (const double load : draw_expert_loads({.count = 8, .per_token = 8}, 3.0, 1)) EXPECT_NEAR(load, 1.0, 1e-9);
}

TEST(ExpertLoad, EachExpertDropsWhatIsBeyondItsCapacity) {
  const std::vector<double> experts = {3.0, 0.0, 0.5, 0.5};
  EXPECT_THAT(loads_of_ranks(experts, 2, 0.0), ElementsAre(1.5, 0.5));
  EXPECT_THAT(loads_of_ranks(experts, 2, 1.25), ElementsAre(0.625, 0.5));
  EXPECT_DOUBLE_EQ(dropped_share(experts, 1.25), 1.75 / 4.0);
  EXPECT_EQ(dropped_share(experts, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(dropped_share({}, 0.75), 0.25);
  EXPECT_EQ(dropped_share({}, 2.0), 0.0);
}

}  // namespace
}  // namespace ringwright::workload::expert_load_test
