// Exchanges between all pairs, and aggregated trees, on channels.
#include <set>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/proof/channel_proof.h"

namespace ringwright::collectives::p2p_test {
namespace {

using namespace ringwright::literals;

const ChannelAlgorithm& p2p() {
  return *find_channel_algorithm("p2p");
}

TEST(P2pOnChannels, ReachesEveryPeerOnce) {
  const GroupLayout layout = make_block_layout(12, 4);
  const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = 12_KiB, .layout = &layout};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 8};
  std::set<int> peers;
  ThreadBlock block;
  for (int b = 0; b < p2p().blocks(call, plan); b += 2) {
    p2p().block(call, plan, 5, b, block);
    for (const SendPort& port : block.sends) EXPECT_TRUE(peers.insert(port.peer).second);
  }
  EXPECT_EQ(peers.size(), 11U);
  EXPECT_FALSE(peers.contains(5));
}

TEST(P2pOnChannels, BeginsInsideTheHost) {
  const GroupLayout layout = make_block_layout(16, 4);
  const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = 16_MiB, .layout = &layout};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2};
  ThreadBlock block;
  p2p().block(call, plan, 6, 0, block);
  ASSERT_EQ(block.sends.size(), 15U);
  for (std::size_t round = 0; round < 3; ++round) EXPECT_EQ(block.sends[round].peer / 4, 1);
  EXPECT_EQ(block.sends[3].peer, 10);  // the same position in the next host
}

TEST(P2pOnChannels, CutsFinerBetweenHosts) {
  const GroupLayout layout = make_block_layout(4, 2);
  const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = 8_MiB, .layout = &layout};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 1};
  Primitive primitive;
  p2p().primitive(call, plan, 0, 0, 0, primitive);
  EXPECT_EQ(primitive.size, 512_KiB);
  p2p().primitive(call, plan, 0, 0, 4, primitive);  // 2 MiB to the neighbour are four messages
  EXPECT_EQ(primitive.size, 128_KiB);
  const ChannelProof proof = prove(p2p(), call, plan);
  EXPECT_TRUE(proof.holds()) << proof.violation;
  EXPECT_EQ(proof.messages, 4 * (4 + 2 * 16));
}

// addP2pToPlan of src/enqueue.cc: less than eight chunks go in halves, less than one in quarters.
TEST(P2pOnChannels, CutsSmallMessagesBetweenHostsFiner) {
  const GroupLayout layout = make_block_layout(4, 2);
  const auto size = [&](Bytes bytes, std::int64_t index) {
    const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = bytes, .layout = &layout};
    const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 1, .chunk = 128_KiB};
    EXPECT_TRUE(prove(p2p(), call, plan).holds());
    Primitive primitive;
    p2p().primitive(call, plan, 0, 0, index, primitive);
    return primitive.size;
  };
  EXPECT_EQ(size(1_MiB, 0), 128_KiB);
  EXPECT_EQ(size(1_MiB, 2), 64_KiB);
  EXPECT_EQ(size(256_KiB, 0), 64_KiB);
  EXPECT_EQ(size(256_KiB, 1), 32_KiB);
}

TEST(P2pOnChannels, UsesPxnWhenThePlanSetsIt) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = 8_KiB, .layout = &layout};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 1, .pxn = true};
  ThreadBlock block;
  p2p().block(call, plan, 1, 0, block);
  int others_rail = 0;
  for (const SendPort& port : block.sends) {
    const bool relayed = port.peer >= 4 && port.peer != 5;  // on the other host, and not on rail 1
    EXPECT_EQ(port.route_kind, relayed ? RouteKind::kPxn : RouteKind::kWhole) << port.peer;
    others_rail += relayed ? 1 : 0;
  }
  EXPECT_EQ(others_rail, 3);
  EXPECT_TRUE(prove(p2p(), call, plan).holds());
}

// The GPU on the peer's rail must be a member: NCCL relays through ranks of the communicator.
TEST(MessageRouteKind, NeedsAMemberOnThePeersRail) {
  const GroupLayout layout = make_group_layout({0, 0, 1, 1}, {0, 1, 0, 2});
  const CollectivePlan plan{.pxn = true};
  EXPECT_EQ(message_route_kind(layout, plan, 1, 2), RouteKind::kPxn);
  EXPECT_EQ(message_route_kind(layout, plan, 1, 3), RouteKind::kWhole);
  EXPECT_EQ(message_route_kind(layout, {}, 1, 2), RouteKind::kWhole);
}

TEST(PatOnChannels, TakesLogSteps) {
  const ChannelAlgorithm& pat = *find_channel_algorithm("pat");
  const GroupLayout layout = make_block_layout(16, 1);
  const CollectiveCall call{.kind = CollectiveKind::kAllGather, .bytes = 16_KiB, .layout = &layout};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 1};
  ThreadBlock block;
  pat.block(call, plan, 0, 0, block);
  EXPECT_EQ(block.primitives, 4);  // log2 16 messages, the last of 8 KiB
  Primitive last;
  pat.primitive(call, plan, 0, 0, 3, last);
  EXPECT_EQ(last.size, 8_KiB);
  const ChannelProof proof = prove(pat, call, plan);
  EXPECT_EQ(proof.sent[7], 15_KiB);  // the lower bound
}

// calcCollChunking of src/enqueue.cc (2.23 and later): 512 KiB are halved while an all-gather has fewer than 32 loops
// of them on all channels, a reduce-scatter fewer than 16.
TEST(PatOnChannels, ChunksShrinkWithTheBuffer) {
  const ChannelAlgorithm& pat = *find_channel_algorithm("pat");
  const GroupLayout layout = make_block_layout(16, 1);
  const auto size = [&](CollectiveKind kind, Bytes bytes) {
    Primitive first;
    const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout};
    pat.primitive(call, {.protocol = Protocol::kSimple, .channels = 1}, 0, 0, 0, first);
    return first.size;
  };
  EXPECT_EQ(size(CollectiveKind::kAllGather, 16_MiB), 512_KiB);
  EXPECT_EQ(size(CollectiveKind::kAllGather, 8_MiB), 256_KiB);
  EXPECT_EQ(size(CollectiveKind::kReduceScatter, 8_MiB), 512_KiB);
  EXPECT_EQ(size(CollectiveKind::kAllGather, 2_MiB), 64_KiB);
}

}  // namespace
}  // namespace ringwright::collectives::p2p_test
