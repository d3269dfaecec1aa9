// The ring at once, against its formula by hand: 100 ticks of delay, 80 of occupancy, packets of 10.
#include "network_models/astra/path_ring.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::path_ring_test {
namespace {

constexpr MessageTimes kTimes{.delay = 100, .occupancy = 80};
const std::vector<RingPacket> kPackets(4, {.lasts = 10, .scheduled_before = 10});
const std::vector<std::uint32_t> kMembers{5, 6, 7};

// What each rank does at the tick of a test was scheduled at this tick.
class Due final : public RankMoments {
 public:
  [[nodiscard]] std::optional<Tick> due_since(std::uint32_t rank) const override {
    return rank == 6 ? since : std::optional<Tick>();
  }
  std::optional<Tick> since;
};

// Three members with two links from each to the next one, free at this tick.
PathRing open_ring(const RankMoments& moments, Tick link_free = 0) {
  PathRing ring;
  ring.open({.members = kMembers, .packets = kPackets, .moments = &moments}, kTimes);
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    ring.add_path();
    ring.add_link(link_free);
    ring.add_link(link_free);
  }
  return ring;
}
constexpr std::uint32_t first_link(std::uint32_t from) {
  return from * 2;
}
constexpr std::uint32_t second_link(std::uint32_t from) {
  return from * 2 + 1;
}

PathRing ring_of(const RankMoments& moments, const std::vector<Tick>& entered) {
  PathRing ring = open_ring(moments);
  for (std::uint32_t i = 0; i < entered.size(); ++i) ring.enter(i, entered[i]);
  ring.compute(0);
  return ring;
}

// Each message takes a packet and two links.
TEST(PathRing, AtOnceTakesARoundForEachMessage) {
  const PathRing ring = ring_of(Due(), {0, 0, 0});
  for (std::uint32_t member = 0; member < 3; ++member) {
    EXPECT_EQ(ring.received(member), 4 * 210);
    EXPECT_EQ(ring.decided(member), 4 * 210 - 100);
    EXPECT_EQ(ring.free_at(first_link(member)), 3 * 210 + 10 + 80);
    EXPECT_EQ(ring.free_at(second_link(member)), 4 * 210 - 100 + 80);
    EXPECT_EQ(ring.last_entry(first_link(member)), 3 * 210 + 10);
    EXPECT_EQ(ring.last_entry(second_link(member)), 4 * 210 - 100);
  }
}

// Member 2 sends at 1010, and 0 and 1 follow; its own second message waits for nobody, since 1 has sent already.
TEST(PathRing, WaitsForTheLastMember) {
  const PathRing ring = ring_of(Due(), {0, 0, 1000});
  // s(2,0..2) = 1010, 1020, 1030: the two messages that member 1 could send arrived before. s(2,3) waits for member 1's
  // third, which waits for member 0's second, sent when member 2's first has come: 1010 + 200 + 10.
  EXPECT_EQ(ring.received(0), 1420 + 210 + 210);
  EXPECT_FALSE(ring.met_tie());
}

// A path of one link, one of three, and one of one: a round of the first messages takes 110 + 310 + 110 ticks.
TEST(PathRing, PathsDifferInLength) {
  PathRing ring;
  const Due due;
  ring.open({.members = kMembers, .packets = kPackets, .moments = &due}, kTimes);
  for (const int hops : {1, 3, 1}) {
    ring.add_path();
    for (int hop = 0; hop < hops; ++hop) ring.add_link(0);
  }
  for (std::uint32_t i = 0; i < 3; ++i) ring.enter(i, 0);
  ring.compute(0);
  // s(2,1) waits for the long path, s(0,2) for that, s(1,3) for that: 320, 430, 540. Member 1 has its fourth message
  // from member 0, whose s(0,3) waits for s(2,2), which waits for s(1,1) = 120: 430, 540; then 100 on the link.
  EXPECT_EQ(ring.received(1), 120 + 310 + 110 + 100);
  EXPECT_EQ(ring.first_link_to(2), 1U);
  EXPECT_EQ(ring.end_of_links_to(2), 4U);
}

// The first message enters the link to member 1 at 110; what entered before holds it up for 70 ticks, then for none.
TEST(PathRing, StartsBehindAForeignMessage) {
  PathRing ring = ring_of(Due(), {0, 0, 0});
  EXPECT_EQ(ring.pass(second_link(0), {.entry = 100, .scheduled = 0, .occupancy = 80}), 100);
  EXPECT_FALSE(ring.is_current());
  ring.compute(100);
  EXPECT_EQ(ring.received(1), 4 * 210 + 70);
}

TEST(PathRing, HoldsUpAForeignMessageBehindItsOwn) {
  PathRing ring = ring_of(Due(), {0, 0, 0});
  EXPECT_EQ(ring.pass(second_link(0), {.entry = 111, .scheduled = 11, .occupancy = 1}), 110 + 80);
  ring.compute(111);
  EXPECT_EQ(ring.received(1), 4 * 210);
}

// Its message was sent at 10, and entered the second link at 110.
TEST(PathRing, OrdersEntriesOfATickByWhenTheyWereScheduled) {
  const Due due;
  PathRing ring = ring_of(due, {0, 0, 0});
  EXPECT_EQ(ring.pass(second_link(0), {.entry = 110, .scheduled = 9, .occupancy = 5}), 110);
  EXPECT_EQ(ring.pass(second_link(1), {.entry = 110, .scheduled = 11, .occupancy = 5}), 110 + 80);
  EXPECT_FALSE(ring.met_tie());
  static_cast<void>(ring.pass(second_link(2), {.entry = 110, .scheduled = 10, .occupancy = 5}));
  EXPECT_TRUE(ring.met_tie());
}

// The second message is sent at 220, by an event of 210, or of whatever else the rank does at 220.
TEST(PathRing, SendsWithTheFirstOfItsRanksEventsOfATick) {
  Due due;
  PathRing ring = ring_of(due, {0, 0, 0});
  EXPECT_EQ(ring.pass(first_link(0), {.entry = 220, .scheduled = 100, .occupancy = 5}), 220);
  due.since = 50;
  EXPECT_EQ(ring.pass(first_link(1), {.entry = 220, .scheduled = 100, .occupancy = 5}), 220 + 80);
  EXPECT_FALSE(ring.met_tie());
  due.since = 100;
  // The foreign message at 220 held up member 0's for 5 ticks.
  static_cast<void>(ring.pass(first_link(1), {.entry = 435, .scheduled = 100, .occupancy = 5}));
  EXPECT_TRUE(ring.met_tie());
}

TEST(PathRing, LetsForeignMessagesPassBeforeAllHaveEntered) {
  const Due due;
  PathRing ring = open_ring(due, 50);
  ring.enter(0, 0);
  EXPECT_EQ(ring.pass(second_link(1), {.entry = 20, .scheduled = 0, .occupancy = 500}), 50);
  EXPECT_EQ(ring.pass(second_link(1), {.entry = 30, .scheduled = 0, .occupancy = 7}), 550);
  EXPECT_EQ(ring.pass(second_link(0), {.entry = 151, .scheduled = 51, .occupancy = 7}), 150 + 80);
}

}  // namespace
}  // namespace ringwright::network_models::path_ring_test
