#include "network_models/flow/link_meters.h"

#include <array>

#include <gtest/gtest.h>

namespace ringwright::network_models::link_meters_test {
namespace {

TimePoint at(std::int64_t picoseconds) { return TimePoint(Duration(picoseconds)); }

TEST(LinkMeters, OverlappingFlowsAreCountedOnceAsBusyTime) {
  LinkMeters meters(2);
  meters.enter(1, at(10));
  meters.enter(1, at(20));
  meters.leave(1, at(30));
  meters.leave(1, at(50));
  meters.enter(1, at(100));
  meters.leave(1, at(101));
  EXPECT_EQ(meters.usage(at(200))[1].busy, Duration(41));
  EXPECT_EQ(meters.usage(at(200))[0].busy, Duration(0));
}

TEST(LinkMeters, ALinkInUseIsBusyUpToNow) {
  LinkMeters meters(1);
  meters.enter(0, at(10));
  EXPECT_EQ(meters.usage(at(25))[0].busy, Duration(15));
}

TEST(LinkMeters, BytesAddUp) {
  LinkMeters meters(1);
  meters.carry(0, 100.0);
  meters.carry(0, 0.5);
  EXPECT_EQ(meters.usage(at(0))[0].bytes, 100.5);
}

TEST(LinkMeters, DetectUseOfAReservedLink) {
  LinkMeters meters(2);
  const std::array links = {LinkId(1)};
  EXPECT_TRUE(meters.set_aside(links, at(10), at(20)));
  meters.enter(0, at(15));  // another one
  meters.enter(1, at(20));  // free again
  EXPECT_FALSE(meters.trespassed());
  EXPECT_FALSE(meters.set_aside(links, at(25), at(30)));  // in use
  meters.leave(1, at(40));
  EXPECT_TRUE(meters.set_aside(links, at(40), at(50)));
  EXPECT_FALSE(meters.set_aside(links, at(49), at(60)));  // already reserved for another
  meters.enter(1, at(49));
  EXPECT_TRUE(meters.trespassed());
}

}  // namespace
}  // namespace ringwright::network_models::link_meters_test
