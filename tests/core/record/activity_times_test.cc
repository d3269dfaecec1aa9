#include "core/record/activity_times.h"

#include <gtest/gtest.h>

namespace ringwright::activity_times_test {
namespace {

using namespace literals;

constexpr ActivityMask kTensor = communicating(DimensionId(0));
constexpr ActivityMask kLast = communicating(DimensionId(kMostActivityDimensions - 1));

TEST(ActivityTimes, AddUpByMixture) {
  ActivityTimes times;
  times.add(kTensor, 2_us);
  times.add(kComputing | kLast, 3_us);
  times.add(kTensor, 5_us);
  EXPECT_EQ(times[kTensor], 7_us);
  EXPECT_EQ(times[kComputing | kLast], 3_us);
  EXPECT_EQ(times[kComputing], 0_us);
  EXPECT_EQ(times[kLast], 0_us);
}

TEST(ActivityTimes, HoldOnlyWhatOccurredByMask) {
  ActivityTimes times;
  times.add(kLast, 1_us);
  times.add(kTensor, 0_us);
  times.add(0, 4_us);
  ASSERT_EQ(times.entries().size(), 2U);
  EXPECT_EQ(times.entries()[0], (ActivityTimes::Entry{.mask = 0, .time = 4_us}));
  EXPECT_EQ(times.entries()[1], (ActivityTimes::Entry{.mask = kLast, .time = 1_us}));
}

TEST(ActivityTimes, AreEqualWhereATimeIsZeroOrAbsent) {
  ActivityTimes times{{.mask = kTensor, .time = 2_us}, {.mask = kLast, .time = 1_us}};
  times.add(kLast, Duration() - 1_us);
  EXPECT_EQ(times, (ActivityTimes{{.mask = kTensor, .time = 2_us}}));
  EXPECT_EQ((ActivityTimes{{.mask = kTensor, .time = 2_us}}), times);
  EXPECT_NE(times, ActivityTimes());
}

// A hundred days of a job whose records already hold 60 days: the product of the latter would leave the clock.
TEST(ActivityTimes, OfManyPeriodsStayWithinTheClock) {
  const ActivityTimes begin{{.mask = kComputing, .time = 60_s * 60 * 24 * 60}};
  ActivityTimes end = begin;
  end.add(kComputing, 10_s);
  ActivityTimes left_out;
  left_out.add_between(begin, end, 864'000);
  EXPECT_EQ(left_out[kComputing], 60_s * 60 * 24 * 100);
}

}  // namespace
}  // namespace ringwright::activity_times_test
