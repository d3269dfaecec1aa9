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

TEST(LinkMeters, AFlowMayHaveThePathToItself) {
  struct PathHop {
    std::uint32_t link = 0;
    double share = 1.0;
  };
  LinkMeters meters(3);
  const std::array path = {PathHop{.link = 0}, PathHop{.link = 2, .share = 0.5}};
  EXPECT_TRUE(meters.are_free(path));
  meters.own(path, 7, at(10));
  EXPECT_FALSE(meters.are_free(path));
  EXPECT_EQ(meters.owner(2), 7U);
  EXPECT_TRUE(meters.is_free(1));
  meters.disown(path, 100.0, Duration(40));
  EXPECT_TRUE(meters.are_free(path));
  EXPECT_EQ(meters.usage(at(60))[2].bytes, 50.0);
  EXPECT_EQ(meters.usage(at(60))[2].busy, Duration(40));
  meters.enter(2, at(60));
  EXPECT_FALSE(meters.are_free(path));
}

TEST(LinkMeters, OwningAReservedPathIsUseOfIt) {
  struct PathHop {
    std::uint32_t link = 0;
    double share = 1.0;
  };
  LinkMeters meters(2);
  const std::array links = {LinkId(1)};
  EXPECT_TRUE(meters.set_aside(links, at(10), at(20)));
  meters.own(std::array{PathHop{.link = 1}}, 7, at(20));
  EXPECT_FALSE(meters.trespassed());
  meters.own(std::array{PathHop{.link = 1}}, 7, at(19));
  EXPECT_TRUE(meters.trespassed());
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
