// Rings on channels: the primitives of NCCL's kernels, one by one.
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"

namespace ringwright::collectives::ring_test {
namespace {

using namespace ringwright::literals;

const ChannelAlgorithm& ring() { return *find_channel_algorithm("ring"); }

struct Counted {
  int sends = 0;          // send only
  int reduce_sends = 0;   // receive, add, send
  int reduce_copies = 0;  // receive, add, store (and send)
  int copy_sends = 0;     // receive, store, send
  int receives = 0;       // receive, store
};

Counted count(const CollectiveCall& call, const CollectivePlan& plan) {
  ThreadBlock block;
  ring().block(call, plan, 0, 0, block);
  Counted counted;
  Primitive p;
  for (std::int64_t index = 0; index < block.primitives; ++index) {
    ring().primitive(call, plan, 0, 0, index, p);
    if (p.receives.count == 0) ++counted.sends;
    if (p.adds) ++(p.stores ? counted.reduce_copies : counted.reduce_sends);
    if (p.receives.count > 0 && !p.adds) ++(p.sends.count > 0 ? counted.copy_sends : counted.receives);
  }
  return counted;
}

TEST(RingOnChannels, AllReduceIsTwoNMinusOnePrimitives) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 64_KiB, .layout = &layout};
  const Counted ll = count(call, {.protocol = Protocol::kLl, .channels = 2});
  EXPECT_EQ(ll.sends, 1);
  EXPECT_EQ(ll.reduce_sends, 6);
  EXPECT_EQ(ll.reduce_copies, 1);
  EXPECT_EQ(ll.copy_sends, 6);
  EXPECT_EQ(ll.receives, 1);
}

TEST(RingOnChannels, SimpleCutsChunksInTwoSlices) {
  const GroupLayout layout = make_block_layout(8, 8);
  // 24 channels x 8 ranks x 2 MiB = 384 MiB a loop; 1 GiB takes two full loops and a rest.
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 1_GiB, .layout = &layout};
  ThreadBlock block;
  ring().block(call, {.channels = 24}, 3, 0, block);
  EXPECT_EQ(block.copies, 24);
  EXPECT_EQ(block.slots_per_message, 2);
  EXPECT_EQ(block.primitives, 3 * 15 * 2);
  Primitive first;
  ring().primitive(call, {.channels = 24}, 3, 0, 0, first);
  EXPECT_EQ(first.size, 1_MiB);
}

TEST(RingOnChannels, AllGatherAndReduceScatterAreNPrimitives) {
  const GroupLayout layout = make_block_layout(6, 6);
  const CollectivePlan plan{.protocol = Protocol::kLl, .channels = 1};
  const Counted gather = count({.kind = CollectiveKind::kAllGather, .bytes = 6_KiB, .layout = &layout}, plan);
  EXPECT_EQ(gather.sends, 1);
  EXPECT_EQ(gather.copy_sends, 4);
  EXPECT_EQ(gather.receives, 1);
  const Counted scatter = count({.kind = CollectiveKind::kReduceScatter, .bytes = 6_KiB, .layout = &layout}, plan);
  EXPECT_EQ(scatter.sends, 1);
  EXPECT_EQ(scatter.reduce_sends, 4);
  EXPECT_EQ(scatter.reduce_copies, 1);
}

TEST(RingOnChannels, BroadcastIsAChainFromTheRoot) {
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = 3_MiB, .layout = &layout, .root = 2};
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2};
  ThreadBlock root;
  ring().block(call, plan, 2, 0, root);
  EXPECT_TRUE(root.receives.empty());
  EXPECT_EQ(root.sends.at(0).peer, 3);
  EXPECT_EQ(root.primitives, 3);  // 1.5 MiB a channel in slots of 512 KiB
  ThreadBlock last;
  ring().block(call, plan, 1, 0, last);
  EXPECT_TRUE(last.sends.empty());
}

}  // namespace
}  // namespace ringwright::collectives::ring_test
