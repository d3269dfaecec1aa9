// The ring orders of channels: each through all members, each entering hosts at a different GPU.
#include "collectives/shapes/channel_ring.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/collectives/example_layouts.h"

namespace ringwright::collectives::channel_ring_test {
namespace {

TEST(ChannelRing, GoesThroughAllMembersOnceInEveryOrder) {
  for (const GroupLayout& layout : {make_block_layout(12, 4), make_block_layout(11, 4), dealt_layout(12, 3)}) {
    const int kinds = ring_kinds(layout, {.channels = 8});
    for (int kind = 0; kind < kinds; ++kind) {
      const ChannelRing ring(layout, {.number = kind, .of = kinds});
      std::set<int> seen;
      for (int position = 0; position < layout.size(); ++position) {
        seen.insert(ring.member_at(position));
        EXPECT_EQ(ring.position_of(ring.member_at(position)), position);
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(layout.size()));
    }
  }
}

TEST(ChannelRing, LeavesAHostOncePerRing) {
  const GroupLayout layout = make_block_layout(16, 4);
  const ChannelRing ring(layout, {.number = 3, .of = 4});
  int crossings = 0;
  for (int position = 0; position < 16; ++position) {
    const auto here = static_cast<std::size_t>(ring.member_at(position));
    const auto next = static_cast<std::size_t>(ring.member_at(position + 1));
    crossings += layout.host_of[here] != layout.host_of[next] ? 1 : 0;
  }
  EXPECT_EQ(crossings, 4);
}

TEST(ChannelRing, EntersHostsAtEveryGpuWhenThereAreEnoughChannels) {
  const GroupLayout layout = make_block_layout(16, 8);
  EXPECT_EQ(ring_kinds(layout, {.channels = 16}), 8);
  std::set<int> entries;
  for (int kind = 0; kind < 8; ++kind) entries.insert(ChannelRing(layout, {.number = kind, .of = 8}).member_at(8));
  EXPECT_EQ(entries.size(), 8U);
}

TEST(ChannelRing, SpreadsFewChannelsOverTheHost) {
  const GroupLayout layout = make_block_layout(8, 4);
  EXPECT_EQ(ring_kinds(layout, {.channels = 2}), 2);
  EXPECT_EQ(ChannelRing(layout, {.number = 0, .of = 2}).member_at(0), 0);
  EXPECT_EQ(ChannelRing(layout, {.number = 1, .of = 2}).member_at(0), 2);  // next to the other half's NIC
}

TEST(ChannelRing, TakesThePlansPathsThroughHosts) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectivePlan plan{.channels = 4, .paths = {{{.order = {0, 2, 1, 3}}, {.order = {1, 0, 3, 2}}}}};
  ASSERT_EQ(ring_kinds(layout, plan), 2);
  const ChannelRing ring(layout, {.number = 1, .of = 2, .plan = &plan});
  const std::vector<int> wanted = {1, 0, 3, 2, 5, 4, 7, 6};  // the second host's members are 4 to 7
  for (int position = 0; position < 8; ++position) {
    EXPECT_EQ(ring.member_at(position), wanted[static_cast<std::size_t>(position)]);
    EXPECT_EQ(ring.position_of(ring.member_at(position)), position);
  }
}

// The second kind of host has its own order and NICs: traffic that leaves the first one by NIC 3 enters there by NIC 1.
TEST(ChannelRing, TakesEveryHostsOwnPath) {
  const GroupLayout layout = make_block_layout(4, 2);
  const CollectivePlan plan{.channels = 2,
                            .paths = {{{.order = {0, 1}, .in = 2, .out = 3, .relay = 5}},
                                      {{.order = {1, 0}, .in = 1, .out = 0}}},
                            .kind_of_host = {0, 1}};
  const ChannelRing ring(layout, {.number = 0, .of = 1, .plan = &plan});
  const std::vector<int> wanted = {0, 1, 3, 2};
  for (int position = 0; position < 4; ++position) {
    EXPECT_EQ(ring.member_at(position), wanted[static_cast<std::size_t>(position)]);
    EXPECT_EQ(ring.position_of(ring.member_at(position)), position);
  }
  EXPECT_EQ(nics_between(layout, plan, 0, 1, 3), (MessageNics{.out = 3, .in = 1, .relay = 5}));
  EXPECT_EQ(nics_between(layout, plan, 0, 2, 0), (MessageNics{.out = 0, .in = 2, .relay = -1}));
  EXPECT_EQ(nics_between(layout, plan, 0, 0, 1), MessageNics{});  // inside a host
}

TEST(ChannelRing, HasOneOrderInsideOneHost) { EXPECT_EQ(ring_kinds(make_block_layout(8, 8), {.channels = 24}), 1); }

}  // namespace
}  // namespace ringwright::collectives::channel_ring_test
