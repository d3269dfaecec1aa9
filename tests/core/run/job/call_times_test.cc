// Times of calls are stored by dimension and call.
#include "core/run/job/call_times.h"

#include <gtest/gtest.h>

namespace ringwright::call_times_test {
namespace {

using namespace ringwright::literals;

TEST(CallTimes, TheLastRankHasTheTimeOfTheCallItself) {
  CallTimes times(2);
  times.begin(ClassId(0), 7, {.dimension = DimensionId(1), .spec = 3}, TimePoint(10_us));
  times.begin(ClassId(1), 4, {.dimension = DimensionId(1), .spec = 3}, TimePoint(14_us));
  times.end(ClassId(0), 7, TimePoint(20_us));
  times.end(ClassId(1), 4, TimePoint(20_us));
  const std::vector<CallTime> taken = times.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].count, 2U);
  EXPECT_TRUE(taken[0].sum == (16_us).count());
  EXPECT_EQ(taken[0].shortest, 6_us);
}

TEST(CallTimes, TasksThatAreNoCallsAreNotCounted) {
  CallTimes times(1);
  times.end(ClassId(0), 0, TimePoint(1_us));
  EXPECT_TRUE(times.take().empty());
}

TEST(CallTimes, OneTaskMayRunAgain) {
  CallTimes times(1);
  for (const Duration begin : {0_us, 10_us}) {
    times.begin(ClassId(0), 0, {}, TimePoint(begin));
    times.end(ClassId(0), 0, TimePoint(begin + 2_us));
  }
  EXPECT_EQ(times.take().front().count, 2U);
  EXPECT_EQ(times.take().front().shortest, 2_us);
}

}  // namespace
}  // namespace ringwright::call_times_test
