#include "core/run/job/activity_profile.h"

#include <gtest/gtest.h>

#include "core/run/job/activity_ledger.h"

namespace ringwright::activity_profile_test {
namespace {

using namespace ringwright::literals;

constexpr ActivityMask kTensor = 2;
constexpr ActivityMask kData = 4;

// Computing from 0 to 10 us, tensor-parallel communication from 6 to 14, computing again from 14 to 20.
ActivityProfile profile() {
  return {{{.at = 0_us, .bit = 0, .begins = true},
           {.at = 6_us, .bit = 1, .begins = true},
           {.at = 10_us, .bit = 0, .begins = false},
           {.at = 14_us, .bit = 1, .begins = false},
           {.at = 14_us, .bit = 0, .begins = true},
           {.at = 20_us, .bit = 0, .begins = false}},
          20_us};
}

ActivityTimes booked(Duration from, Duration to, ActivityMask concurrent = 0) {
  ActivityTimes time_in;
  profile().book(from, to, concurrent, time_in);
  return time_in;
}

TEST(ActivityProfile, ReportsHowLongEachMixtureLasts) {
  const ActivityTimes whole = booked(0_us, 20_us);
  EXPECT_EQ(whole[0], 0_us);
  EXPECT_EQ(whole[kComputing], 12_us);
  EXPECT_EQ(whole[kComputing | kTensor], 4_us);
  EXPECT_EQ(whole[kTensor], 4_us);
}

TEST(ActivityProfile, PartsAddUpToTheWhole) {
  ActivityTimes parts = booked(0_us, 7_us);
  EXPECT_EQ(parts[kComputing], 6_us);
  EXPECT_EQ(parts[kComputing | kTensor], 1_us);
  parts.add(booked(7_us, 20_us));
  EXPECT_EQ(parts, booked(0_us, 20_us));
}

// With the stretch in which the part before ended; some parts are within one, some go over several.
TEST(ActivityProfile, PartsThatFollowEachOtherAreBookedAsSeparateOnes) {
  const ActivityProfile of_step = profile();
  ActivityTimes in_turn;
  ActivityTimes separate;
  std::size_t stretch = 0;
  Duration since;
  ActivityMask concurrent = 0;
  for (const Duration to : {2_us, 6_us, 7_us, 13_us, 14_us, 20_us}) {
    of_step.book(since, to, concurrent, in_turn, stretch);
    separate.add(booked(since, to, concurrent));
    since = to;
    concurrent ^= kData;
  }
  EXPECT_EQ(in_turn, separate);
  EXPECT_EQ(in_turn[kComputing | kData], 4_us + 6_us);  // from 2 to 6 and from 14 to 20
  EXPECT_EQ(in_turn[kTensor | kData], 3_us);            // from 10 to 13
}

TEST(ActivityProfile, MixesWithConcurrentActivities) {
  const ActivityTimes mixed = booked(8_us, 12_us, kData);
  EXPECT_EQ(mixed[kComputing | kTensor | kData], 2_us);
  EXPECT_EQ(mixed[kTensor | kData], 2_us);
  EXPECT_EQ(mixed[kTensor], 0_us);
}

TEST(ActivityProfile, ActivitiesOfOneKindOverlap) {
  const ActivityProfile twice({{.at = 0_us, .bit = 0, .begins = true},
                               {.at = 2_us, .bit = 0, .begins = true},
                               {.at = 3_us, .bit = 0, .begins = false},
                               {.at = 9_us, .bit = 0, .begins = false}},
                              10_us);
  ActivityTimes time_in;
  twice.book(0_us, 10_us, 0, time_in);
  EXPECT_EQ(time_in[kComputing], 9_us);
  EXPECT_EQ(time_in[0], 1_us);
}

// As tasks report them, one after another: each its start and its end.
TEST(ActivityProfile, MayBeBuiltOutOfOrder) {
  const ActivityProfile unordered({{.at = 6_us, .bit = 1, .begins = true},
                              {.at = 14_us, .bit = 1, .begins = false},
                              {.at = 0_us, .bit = 0, .begins = true},
                              {.at = 10_us, .bit = 0, .begins = false},
                              {.at = 14_us, .bit = 0, .begins = true},
                              {.at = 20_us, .bit = 0, .begins = false}},
                             20_us);
  ActivityTimes time_in;
  unordered.book(3_us, 17_us, 0, time_in);
  EXPECT_EQ(time_in, booked(3_us, 17_us));
}

TEST(ActivityProfile, OfALedgerRunsConcurrentlyWithBookings) {
  ActivityLedger ledger(1, 2);
  const ActivityProfile timeline = profile();
  const ClassId only(0);
  ledger.begin_profile(only, timeline, TimePoint(100_us));
  ledger.begin_communication(only, DimensionId(1), TimePoint(104_us));
  ledger.end_communication(only, DimensionId(1), TimePoint(112_us));
  ledger.end_profile(only, TimePoint(120_us));
  ledger.close(only, TimePoint(121_us));
  const ActivityTimes& time_in = ledger.time_in()[0];
  EXPECT_EQ(time_in[kComputing | kData], 2_us);            // 104 .. 106
  EXPECT_EQ(time_in[kComputing | kTensor | kData], 4_us);  // 106 .. 110
  EXPECT_EQ(time_in[kTensor | kData], 2_us);               // 110 .. 112
  EXPECT_EQ(time_in[kTensor], 2_us);                       // 112 .. 114
  EXPECT_EQ(time_in[kComputing], 10_us);                   // 100 .. 104, 114 .. 120
  EXPECT_EQ(time_in[0], 101_us);                           // before and after
}

}  // namespace
}  // namespace ringwright::activity_profile_test
