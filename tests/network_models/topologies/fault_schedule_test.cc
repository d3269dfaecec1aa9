#include "network_models/topologies/fault_schedule.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::network_models::fault_schedule_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsNull;

std::vector<double> factors(const FaultMoment& moment) {
  std::vector<double> result;
  for (const LinkChange& change : moment.changes) result.push_back(change.factor);
  return result;
}

TEST(FaultSchedule, WithoutFaultsHasNoMomentAndOneEpoch) {
  const FaultSchedule schedule;
  EXPECT_TRUE(schedule.empty());
  EXPECT_EQ(schedule.epoch_count(), 1U);
  EXPECT_THAT(schedule.down(0), IsNull());
}

TEST(FaultSchedule, ALinkGoesDownAndComesBack) {
  const std::vector<LinkFault> faults = {{.link = LinkId(2), .at = TimePoint(1_ms), .until = TimePoint(3_ms)}};
  const FaultSchedule schedule(faults, 4);
  ASSERT_EQ(schedule.moments().size(), 2U);
  EXPECT_EQ(schedule.moments()[0].when, TimePoint(1_ms));
  EXPECT_THAT(factors(schedule.moments()[0]), ElementsAre(0.0));
  EXPECT_EQ(schedule.moments()[0].epoch, 1U);
  EXPECT_THAT(*schedule.down(1), ElementsAre(false, false, true, false));
  EXPECT_EQ(schedule.moments()[1].when, TimePoint(3_ms));
  EXPECT_THAT(factors(schedule.moments()[1]), ElementsAre(1.0));
  EXPECT_EQ(schedule.moments()[1].epoch, 0U);  // as at first, not a third set
}

TEST(FaultSchedule, AFaultForGoodHasNoEnd) {
  const std::vector<LinkFault> faults = {{.link = LinkId(0), .at = TimePoint(1_ms)}};
  EXPECT_EQ(FaultSchedule(faults, 1).moments().size(), 1U);
}

// The link carries nothing from 1 ms on; paths know it from 2 ms on.
TEST(FaultSchedule, PathsAvoidALinkLaterThanItFails) {
  const std::vector<LinkFault> faults = {
      {.link = LinkId(0), .at = TimePoint(1_ms), .until = TimePoint(4_ms), .reroute_after = 1_ms}};
  const FaultSchedule schedule(faults, 2);
  ASSERT_EQ(schedule.moments().size(), 3U);
  EXPECT_THAT(factors(schedule.moments()[0]), ElementsAre(0.0));
  EXPECT_EQ(schedule.moments()[0].epoch, 0U);
  EXPECT_EQ(schedule.moments()[1].when, TimePoint(2_ms));
  EXPECT_TRUE(schedule.moments()[1].changes.empty());
  EXPECT_EQ(schedule.moments()[1].epoch, 1U);
  EXPECT_THAT(factors(schedule.moments()[2]), ElementsAre(1.0));
  EXPECT_EQ(schedule.moments()[2].epoch, 0U);
}

// It is up again before anybody has found out.
TEST(FaultSchedule, AShortFlapChangesNoPath) {
  const std::vector<LinkFault> faults = {
      {.link = LinkId(0), .at = TimePoint(1_ms), .until = TimePoint(2_ms), .reroute_after = 5_ms}};
  EXPECT_EQ(FaultSchedule(faults, 1).epoch_count(), 1U);
}

TEST(FaultSchedule, ADegradedLinkIsNoEpochOfItsOwn) {
  const std::vector<LinkFault> faults = {{.link = LinkId(0), .at = TimePoint(1_ms), .factor = 0.5}};
  const FaultSchedule schedule(faults, 1);
  EXPECT_EQ(schedule.epoch_count(), 1U);
  EXPECT_EQ(schedule.moments()[0].epoch, 0U);
}

// Half from 1 to 4 ms, a half of that from 2 to 3 ms.
TEST(FaultSchedule, FactorsOfFaultsThatOverlapMultiply) {
  const std::vector<LinkFault> faults = {
      {.link = LinkId(0), .at = TimePoint(1_ms), .until = TimePoint(4_ms), .factor = 0.5},
      {.link = LinkId(0), .at = TimePoint(2_ms), .until = TimePoint(3_ms), .factor = 0.5}};
  const FaultSchedule schedule(faults, 1);
  std::vector<double> seen;
  for (const FaultMoment& moment : schedule.moments()) seen.push_back(moment.changes.at(0).factor);
  EXPECT_THAT(seen, ElementsAre(0.5, 0.25, 0.5, 1.0));
}

TEST(FaultSchedule, LinksThatFailAtOneInstantMakeOneMoment) {
  const std::vector<LinkFault> faults = {{.link = LinkId(3), .at = TimePoint(1_ms)},
                                         {.link = LinkId(1), .at = TimePoint(1_ms)}};
  const FaultSchedule schedule(faults, 4);
  ASSERT_EQ(schedule.moments().size(), 1U);
  ASSERT_EQ(schedule.moments()[0].changes.size(), 2U);
  EXPECT_EQ(schedule.moments()[0].changes[0].link, LinkId(1));
  EXPECT_EQ(schedule.epoch_count(), 2U);
}

TEST(FaultSchedule, ColoursSetLinksApartByWhatTheySufferAndWhen) {
  const std::vector<LinkFault> faults = {{.link = LinkId(0), .at = TimePoint(1_ms), .factor = 0.5},
                                         {.link = LinkId(1), .at = TimePoint(1_ms), .factor = 0.5},
                                         {.link = LinkId(2), .at = TimePoint(2_ms), .factor = 0.5},
                                         {.link = LinkId(3), .at = TimePoint(1_ms), .factor = 0.25}};
  const std::vector<std::uint64_t> colours = FaultSchedule(faults, 5).link_colours();
  EXPECT_EQ(colours[0], colours[1]);
  EXPECT_NE(colours[0], colours[2]);
  EXPECT_NE(colours[0], colours[3]);
  EXPECT_NE(colours[0], colours[4]);
}

}  // namespace
}  // namespace ringwright::network_models::fault_schedule_test
