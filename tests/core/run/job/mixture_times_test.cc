// Times in mixtures add up, whether a mixture has a number or not.
#include "core/run/job/mixture_times.h"

#include <gtest/gtest.h>

namespace ringwright::mixture_times_test {
namespace {

using namespace ringwright::literals;

// More mixtures than have numbers, in an order that differs between classes.
TEST(MixtureTimes, AreThoseThatWereAdded) {
  constexpr ActivityMask kMixtures = 40;
  MixtureTimes times(2);
  ActivityTimes first, second;
  for (int round = 1; round <= 3; ++round) {
    for (ActivityMask mask = 0; mask < kMixtures; ++mask) {
      times.add(ClassId(0), mask, 1_us * round);
      first.add(mask, 1_us * round);
      times.add(ClassId(1), kMixtures - mask, 2_us);
      second.add(kMixtures - mask, 2_us);
    }
    EXPECT_EQ(times.of(ClassId(0)), first);  // and go on
  }
  EXPECT_EQ(times.all()[1], second);
  times.others(ClassId(1)).add(3, 5_us);
  second.add(3, 5_us);
  EXPECT_EQ(times.of(ClassId(1)), second);
  times.clear(ClassId(1));
  EXPECT_EQ(times.of(ClassId(1)), ActivityTimes());
  EXPECT_EQ(times.take().front(), first);
}

}  // namespace
}  // namespace ringwright::mixture_times_test
