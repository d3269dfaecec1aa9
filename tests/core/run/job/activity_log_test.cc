// Activities that were noted in any order add up as in the ledger, which hears of them in the order of time.
#include "core/run/job/activity_log.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/run/job/activity_ledger.h"

namespace ringwright::activity_log_test {
namespace {

using namespace ringwright::literals;

constexpr ClassId kClass{0};
constexpr DimensionId kData{0};
constexpr ActivityMask kDataMask = 2;

TimePoint at(Duration since_start) { return TimePoint(since_start); }

// Computing from 0 to 4 us and from 6 to 10.
ActivityProfile profile() {
  return {{{.at = 0_us, .bit = 0, .begins = true},
           {.at = 4_us, .bit = 0, .begins = false},
           {.at = 6_us, .bit = 0, .begins = true},
           {.at = 10_us, .bit = 0, .begins = false}},
          10_us};
}

// Two profiles one after another, from 2 and 12 us on; communication from 5 to 13 us and, noted before, from 11 to 16.
TEST(ActivityLog, AddsUpWhatOverlaps) {
  const ActivityProfile pass = profile();
  ActivityLog log(1, 1);
  log.add_communication(kClass, kData, at(11_us), at(16_us));
  log.add_communication(kClass, kData, at(5_us), at(13_us));
  log.add_profile(kClass, pass, at(2_us));
  log.add_profile(kClass, pass, at(12_us));
  ActivityTimes time_in;
  EXPECT_TRUE(log.add_up(kClass, {.from = at(0_us), .to = at(30_us)}, time_in));

  ActivityLedger ledger(1, 1);
  ledger.begin_profile(kClass, pass, at(2_us));
  ledger.begin_communication(kClass, kData, at(5_us));
  ledger.begin_communication(kClass, kData, at(11_us));
  ledger.end_profile(kClass, at(12_us));
  ledger.begin_profile(kClass, pass, at(12_us));
  ledger.end_communication(kClass, kData, at(13_us));
  ledger.end_communication(kClass, kData, at(16_us));
  ledger.end_profile(kClass, at(22_us));
  ledger.close(kClass, at(30_us));
  EXPECT_EQ(time_in, ledger.time_in().front());
  EXPECT_EQ(time_in[kComputing | kDataMask], 9_us);  // 5 to 6, 8 to 12 and 12 to 16
}

// More than seven of them make mixtures that are not in the array of small ones.
TEST(ActivityLog, AddsUpInManyDimensions) {
  constexpr DimensionId kLast{11};
  ActivityLog log(1, 12);
  log.add_communication(kClass, kData, at(0_us), at(4_us));
  log.add_communication(kClass, kLast, at(3_us), at(9_us));
  log.add_compute(kClass, at(8_us), at(10_us));
  ActivityTimes time_in;
  EXPECT_TRUE(log.add_up(kClass, {.from = at(0_us), .to = at(10_us)}, time_in));
  const ActivityMask last = communicating(kLast);
  EXPECT_EQ(time_in, (ActivityTimes{{kDataMask, 3_us},
                                    {kDataMask | last, 1_us},
                                    {last, 4_us},
                                    {kComputing | last, 1_us},
                                    {kComputing, 1_us}}));
}

TEST(ActivityLog, LeavesOutTheWarmUp) {
  ActivityLog log(1, 1);
  log.add_compute(kClass, at(0_us), at(8_us));
  log.add_compute(kClass, at(10_us), at(13_us));
  ActivityTimes time_in;
  EXPECT_TRUE(log.add_up(kClass, {.from = at(8_us), .to = at(13_us)}, time_in));
  EXPECT_EQ(time_in, (ActivityTimes{{0, 2_us}, {kComputing, 3_us}}));
}

// Random messages of three channels in two dimensions, some of which begin while others of their channel are in flight.
TEST(ActivityLog, AddsUpMessagesOfChannelsAsOneByOne) {
  constexpr std::array kDimensions = {DimensionId(0), DimensionId(0), DimensionId(1)};
  const ActivityProfile pass = profile();
  RandomStream random(1, "messages of channels");
  for (int round = 0; round < 200; ++round) {
    ActivityLog together(1, 2);
    ActivityLog one_by_one(1, 2);
    std::array<std::vector<ActivityLog::Flight>, 3> channels;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      TimePoint begin;
      for (std::uint64_t message = random.next_below(20); message > 0; --message) {
        begin = begin + 1_us * static_cast<std::int64_t>(random.next_below(4));
        const TimePoint end = begin + 1_us * static_cast<std::int64_t>(random.next_below(4));
        channels[c].push_back({.begin = begin, .end = end});
        one_by_one.add_communication(kClass, kDimensions[c], begin, end);
      }
      together.add_flights(kClass, kDimensions[c], channels[c]);
    }
    ActivityTimes of_channels;
    ActivityTimes of_messages;
    for (ActivityLog* const log : {&together, &one_by_one}) {
      log->add_compute(kClass, at(1_us), at(3_us));
      for (const Duration begin : {7_us, 20_us}) log->add_profile(kClass, pass, at(begin));
      ActivityTimes& times = log == &together ? of_channels : of_messages;
      ASSERT_TRUE(log->add_up(kClass, {.from = at(2_us), .to = at(100_us)}, times));
    }
    EXPECT_EQ(of_channels, of_messages) << "round " << round;
  }
}

TEST(ActivityLog, ReportsAMessageThatOutlastsTheClass) {
  ActivityLog log(1, 1);
  const std::vector<ActivityLog::Flight> flights = {{.begin = at(1_us), .end = at(9_us)}};
  log.add_flights(kClass, kData, flights);
  ActivityTimes time_in;
  EXPECT_FALSE(log.add_up(kClass, {.from = at(0_us), .to = at(8_us)}, time_in));
}

TEST(ActivityLog, ReportsAnActivityThatOutlastsTheClass) {
  ActivityLog log(1, 1);
  log.add_communication(kClass, kData, at(1_us), at(9_us));
  ActivityTimes time_in;
  EXPECT_FALSE(log.add_up(kClass, {.from = at(0_us), .to = at(8_us)}, time_in));
}

}  // namespace
}  // namespace ringwright::activity_log_test
