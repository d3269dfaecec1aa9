#include "planning/jobs/shared_speed.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::shared_speed_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kExact = 1e-12;

std::vector<double> speeds(SharingKind kind, std::vector<JobOnGpu> jobs) { return shared_speeds(kind, jobs); }

TEST(SharedSpeed, PartsDoNotDisturbEachOther) {
  EXPECT_THAT(speeds(SharingKind::kParts, {{.demand = 1.0}, {.demand = 1.0}}), ElementsAre(1.0, 1.0));
}

// Two jobs that compute all the time take turns; 0.2 + 0.5 of a GPU are there for both.
TEST(SharedSpeed, TimeSlicesAreMaxMinFair) {
  EXPECT_THAT(speeds(SharingKind::kTimeSlicing, {{.demand = 1.0}, {.demand = 1.0}}), ElementsAre(0.5, 0.5));
  EXPECT_THAT(speeds(SharingKind::kMps, {{.demand = 0.2}, {.demand = 0.5}}), ElementsAre(1.0, 1.0));
  // 0.2 is below a third; of the other 0.8 each gets 0.4.
  EXPECT_THAT(speeds(SharingKind::kTimeSlicing, {{.demand = 0.8}, {.demand = 0.2}, {.demand = 0.5}}),
              ElementsAre(DoubleNear(0.5, kExact), 1.0, DoubleNear(0.8, kExact)));
}

// The guaranteed job leaves 0.4 for two that demand 0.5 each.
TEST(SharedSpeed, AntManGivesOpportunisticJobsTheRest) {
  EXPECT_THAT(speeds(SharingKind::kAntMan, {{.demand = 0.5, .opportunistic = true},
                                            {.demand = 0.6},
                                            {.demand = 0.5, .opportunistic = true}}),
              ElementsAre(DoubleNear(0.4, kExact), 1.0, DoubleNear(0.4, kExact)));
  EXPECT_THAT(speeds(SharingKind::kAntMan, {{.demand = 1.0}, {.demand = 0.5, .opportunistic = true}}),
              ElementsAre(1.0, 0.0));
}

TEST(SharedSpeed, TgsCostsTheProductionJobThreePercent) {
  EXPECT_THAT(speeds(SharingKind::kTgs, {{.demand = 1.0}, {.demand = 0.5, .opportunistic = true}}),
              ElementsAre(DoubleNear(0.97, kExact), DoubleNear(0.06, kExact)));
  EXPECT_THAT(speeds(SharingKind::kTgs, {{.demand = 1.0}}), ElementsAre(1.0));
}

}  // namespace
}  // namespace ringwright::planning::shared_speed_test
