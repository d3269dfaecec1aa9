#include "core/base/units.h"

#include <gtest/gtest.h>

namespace ringwright::units_test {
namespace {

using namespace ringwright::literals;

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
static_assert(!Addable<TimePoint, TimePoint>);
static_assert(!Addable<Bytes, Duration>);
static_assert(Addable<TimePoint, Duration>);

TEST(Units, ParseNeedsAUnit) {
  EXPECT_EQ(parse_bandwidth("400"), std::nullopt);
  EXPECT_EQ(parse_duration("1.2"), std::nullopt);
  EXPECT_EQ(parse_bytes(""), std::nullopt);
}

TEST(Units, BitsAndBytesDiffer) {
  EXPECT_EQ(parse_bandwidth("400Gbps")->count(), 50e9);
  EXPECT_EQ(parse_bandwidth("50 GB/s")->count(), 50e9);
  EXPECT_EQ(parse_bytes("1GB"), Bytes(1'000'000'000));
  EXPECT_EQ(parse_bytes("1GiB"), 1_GiB);
}

TEST(Units, DurationsAreWholePicoseconds) {
  EXPECT_EQ(parse_duration("1.2us"), Duration(1'200'000));
  EXPECT_EQ(parse_duration("0.4ps"), Duration(0));
  EXPECT_EQ(parse_duration("1e3ns"), 1_us);
}

TEST(Units, RefusesTailsAndNonsense) {
  EXPECT_EQ(parse_duration("1us!"), std::nullopt);
  EXPECT_EQ(parse_duration("1  us"), std::nullopt);
  EXPECT_EQ(parse_duration("nan us"), std::nullopt);
  EXPECT_EQ(parse_duration("1e30 s"), std::nullopt);
  EXPECT_EQ(parse_bandwidth("400gbps"), std::nullopt);
}

TEST(Units, TransferTimeRoundsToNearest) {
  // 1 byte at 3 GB/s takes 333.33 ps.
  EXPECT_EQ(transfer_time(1_B, 3_GBps), Duration(333));
  EXPECT_EQ(transfer_time(50_B, 50_GBps), 1_ns);
}

TEST(Units, WhatLeavesTheClockStaysAtItsEnd) {
  const Duration hour = from_seconds(3600.0);
  EXPECT_EQ(kClockEnd + hour, kClockEnd);
  EXPECT_EQ(hour * 2'600, kClockEnd);  // 2^63 ps are 2562 hours
  EXPECT_EQ(hour * -2'600, Duration() - kClockEnd);
  EXPECT_EQ(Duration() - hour * 2'500 - hour * 2'500, Duration() - kClockEnd);
  EXPECT_FALSE(is_beyond_clock(hour * 2'562));
  EXPECT_TRUE(is_beyond_clock(TimePoint(hour * 2'000) + hour * 2'000));
}

TEST(Units, RealTimesThatDoNotFitAreTheEndOfTheClock) {
  EXPECT_EQ(from_seconds(1e30), kClockEnd);
  EXPECT_EQ(from_seconds(-1e30), Duration() - kClockEnd);
  EXPECT_EQ(transfer_time(1_B, Bandwidth(0.0)), kClockEnd);
  EXPECT_EQ(transfer_time(0_B, Bandwidth(0.0)), kClockEnd);  // 0 / 0 is not a number
  EXPECT_EQ(scale(1_GiB, 1e30), Bytes(Bytes::kLargest));
}

TEST(Units, RatesAreRealNumbersAndDoNotSaturate) {
  EXPECT_EQ((Bandwidth(1e300) * 1e300).count(), std::numeric_limits<double>::infinity());
}

TEST(Units, PrintsFourDigitsAndTheFittingUnit) {
  EXPECT_EQ(to_string(6_s), "6 s");
  EXPECT_EQ(to_string(Duration(1'234'567)), "1.235 us");
  EXPECT_EQ(to_string(1_GiB), "1 GiB");
  EXPECT_EQ(to_string(50_GBps), "50 GB/s");
  EXPECT_EQ(to_string(FlopRate(989.4e12)), "989.4 TFLOP/s");
}

}  // namespace
}  // namespace ringwright::units_test
