// The ring at once, against its formula by hand: 100 ticks of delay, 80 of occupancy, packets of 10.
#include "network_models/astra/switch_ring.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::switch_ring_test {
namespace {

constexpr MessageTimes kTimes{.delay = 100, .occupancy = 80};
const std::vector<Tick> kPackets(4, 10);

// Three members that enter at these ticks, on free links.
SwitchRing ring_of(const std::vector<Tick>& entered) {
  SwitchRing ring;
  ring.open(kTimes, kPackets);
  for (std::size_t i = 0; i < entered.size(); ++i) ring.add_link(0);
  for (std::uint32_t i = 0; i < entered.size(); ++i) ring.enter(i, entered[i], 0);
  ring.compute();
  return ring;
}

// Each message takes a packet and two links.
TEST(SwitchRing, AtOnceTakesARoundForEachMessage) {
  const SwitchRing ring = ring_of({0, 0, 0});
  for (std::uint32_t member = 0; member < 3; ++member) {
    EXPECT_EQ(ring.received(member), 4 * 210);
    EXPECT_EQ(ring.decided(member), 4 * 210 - 100);
    EXPECT_EQ(ring.up_free(member), 3 * 210 + 10 + 80);
    EXPECT_EQ(ring.down_free(member), 4 * 210 - 100 + 80);
  }
}

// Member 2 sends at 1010, and 0 and 1 follow; its own second message waits for nobody, since 1 has sent already.
TEST(SwitchRing, WaitsForTheLastMember) {
  const SwitchRing ring = ring_of({0, 0, 1000});
  // s(2,0..2) = 1010, 1020, 1030: the two messages that member 1 could send arrived before. s(2,3) waits for member 1's
  // third, which waits for member 0's second, sent when member 2's first has come: 1010 + 200 + 10.
  EXPECT_EQ(ring.received(0), 1420 + 210 + 210);
  EXPECT_FALSE(ring.met_tie());
}

// The first message enters the link to member 1 at 110; what entered before holds it up for 70 ticks, then for none.
TEST(SwitchRing, StartsBehindAForeignMessage) {
  SwitchRing ring = ring_of({0, 0, 0});
  EXPECT_EQ(ring.pass(1, {.entry = 100, .sent = 0, .occupancy = 80}), 100);
  EXPECT_EQ(ring.received(1), 4 * 210 + 70);
}

TEST(SwitchRing, HoldsUpAForeignMessageBehindItsOwn) {
  SwitchRing ring = ring_of({0, 0, 0});
  EXPECT_EQ(ring.pass(1, {.entry = 111, .sent = 0, .occupancy = 1}), 110 + 80);
  EXPECT_EQ(ring.received(1), 4 * 210);
}

// Its message was sent at 10, and entered at 110.
TEST(SwitchRing, OrdersEntriesOfATickByWhenTheyWereSent) {
  SwitchRing ring = ring_of({0, 0, 0});
  EXPECT_EQ(ring.pass(1, {.entry = 110, .sent = 9, .occupancy = 5}), 110);
  EXPECT_EQ(ring.pass(2, {.entry = 110, .sent = 11, .occupancy = 5}), 110 + 80);
  EXPECT_FALSE(ring.met_tie());
  static_cast<void>(ring.pass(0, {.entry = 110, .sent = 10, .occupancy = 5}));
  EXPECT_TRUE(ring.met_tie());
}

TEST(SwitchRing, LetsForeignMessagesPassBeforeAllHaveEntered) {
  SwitchRing ring;
  ring.open(kTimes, kPackets);
  for (int i = 0; i < 3; ++i) ring.add_link(50);
  ring.enter(0, 0, 0);
  EXPECT_EQ(ring.pass(2, {.entry = 20, .sent = 0, .occupancy = 500}), 50);
  EXPECT_EQ(ring.pass(2, {.entry = 30, .sent = 0, .occupancy = 7}), 550);
  EXPECT_EQ(ring.pass(1, {.entry = 130, .sent = 0, .occupancy = 7}), 110 + 80);
}

}  // namespace
}  // namespace ringwright::network_models::switch_ring_test
