#include "planning/operation/interval.h"

#include <gtest/gtest.h>

namespace ringwright::planning::interval_test {
namespace {

struct Golden {
  double between_failures, stall, young, daly, efficiency;
};

// Llama 3's mean time between interruptions, 3.09 h, with a recovery of 600 s; RSC's at 16,384 GPUs, 1.8 h. The values
// follow from the formulas in interval.h, each with Daly's interval.
TEST(Interval, GoldenValues) {
  for (const Golden& row :
       {Golden{11124.0, 60.0, 1155.4, 1115.7, 0.8525}, Golden{11124.0, 300.0, 2583.5, 2387.4, 0.7441},
        Golden{11124.0, 3.0, 258.3, 256.4, 0.9257}, Golden{6480.0, 30.0, 623.5, 603.7, 0.8266}}) {
    const CheckpointCost cost{.stall = row.stall, .between_failures = row.between_failures, .recovery = 600.0};
    EXPECT_NEAR(young_interval(cost), row.young, 0.05);
    EXPECT_NEAR(daly_interval(cost), row.daly, 0.05);
    EXPECT_NEAR(exact_efficiency(cost, daly_interval(cost)), row.efficiency, 0.00005);
  }
  const CheckpointCost cost{.stall = 60.0, .between_failures = 11124.0, .recovery = 600.0};
  EXPECT_NEAR(first_order_efficiency(cost, daly_interval(cost)), 0.8421, 0.00005);
}

TEST(Interval, DalyGivesUpWhereAStallLastsAsLongAsTwoFailures) {
  EXPECT_DOUBLE_EQ(daly_interval({.stall = 200.0, .between_failures = 100.0}), 100.0);
}

TEST(Interval, DalyIsNearTheOptimumOfTheExactEfficiency) {
  const CheckpointCost cost{.stall = 60.0, .between_failures = 11124.0, .recovery = 600.0};
  const double best = exact_efficiency(cost, daly_interval(cost));
  EXPECT_GT(best, exact_efficiency(cost, daly_interval(cost) * 1.05));
  EXPECT_GT(best, exact_efficiency(cost, daly_interval(cost) / 1.05));
}

}  // namespace
}  // namespace ringwright::planning::interval_test
