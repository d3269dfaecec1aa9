// Reduction in a host's NVSwitches, on channels.
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/channels/nvls_parts.h"
#include "collectives/proof/channel_proof.h"

namespace ringwright::collectives::nvls_test {
namespace {

using namespace ringwright::literals;

const ChannelAlgorithm& nvls() {
  return *find_channel_algorithm("nvls");
}

TEST(NvlsOnChannels, NeedsSimpleAndOverHostsAnAllReduce) {
  const GroupLayout one = make_block_layout(8, 8);
  const GroupLayout two = make_block_layout(8, 4);
  const CollectivePlan simple{.protocol = Protocol::kSimple, .channels = 16};
  EXPECT_TRUE(nvls().supports({.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &one}, simple));
  EXPECT_TRUE(nvls().supports({.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &two}, simple));
  EXPECT_FALSE(nvls().supports({.kind = CollectiveKind::kAllGather, .bytes = 1_MiB, .layout = &two}, simple));
  EXPECT_FALSE(nvls().supports({.kind = CollectiveKind::kBroadcast, .bytes = 1_MiB, .layout = &one}, simple));
  EXPECT_FALSE(nvls().supports({.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &one},
                               {.protocol = Protocol::kLl, .channels = 16}));
}

TEST(NvlsOnChannels, AllReduceMovesTheBufferUpAndDownOnceAndAnEighthMore) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 4};
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 4_MiB, .layout = &layout};
  const ChannelProof proof = prove(nvls(), call, plan);
  ASSERT_TRUE(proof.holds()) << proof.violation;
  // Up: all heads' parts, and the sum of the member's own part as a multicast. Down: the sum of its own part, and all
  // multicasts.
  EXPECT_EQ(proof.sent[3], 4_MiB + 512_KiB);
  EXPECT_EQ(proof.received[3], 4_MiB + 512_KiB);
}

// NCCL_MAX_NVLS_ARITY: of the 72 GPUs of a rack 32 are heads; the others scatter to them and gather from them.
TEST(NvlsOnChannels, ARackHasThirtyTwoHeads) {
  const GroupLayout layout = make_block_layout(72, 72);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2};
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 4_MiB, .layout = &layout};
  const ChannelProof proof = prove(nvls(), call, plan);
  ASSERT_TRUE(proof.holds()) << proof.violation;
  EXPECT_EQ(proof.sent[31], 4_MiB + 128_KiB);
  EXPECT_EQ(proof.received[31], 4_MiB + 128_KiB);
  EXPECT_EQ(proof.sent[32], 4_MiB);
  EXPECT_EQ(proof.received[32], 4_MiB);
  const CollectiveCall gather{.kind = CollectiveKind::kAllGather, .bytes = 4_MiB, .layout = &layout};
  EXPECT_FALSE(nvls().supports(gather, plan));
}

TEST(NvlsOnChannels, ChunksShrinkWithTheBuffer) {
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 16};
  // 16 channels x 8 heads x 128 KiB = 16 MiB at a time.
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 1_GiB, .heads = 8}), 128_KiB);
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 1_GiB - 1_MiB, .heads = 8}), 64_KiB);
  // Below 8 x 8 MiB and 2 x 4 MiB of the chunks left (calcCollChunking of src/enqueue.cc, 2.22 to 2.27).
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 64_MiB, .heads = 8}), 64_KiB);
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 64_MiB - 1_MiB, .heads = 8}), 32_KiB);
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 8_MiB, .heads = 8}), 32_KiB);
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 8_MiB - 1_MiB, .heads = 8}), 16_KiB);
  EXPECT_EQ(nvls_chunk(plan, {.bytes = 16_GiB, .heads = 8, .hosts = 4}), 64_KiB);
}

TEST(NvlsOnChannels, ShareOutTheirWarps) {
  const NvlsWarps eight = nvls_warps(8);
  EXPECT_DOUBLE_EQ(eight.reduce, 0.25);  // 5 of 20
  EXPECT_DOUBLE_EQ(eight.scatter + eight.reduce + eight.gather, 1.0);
  // 7 of 20 instead of 5; a group's rate grows as the fourth root.
  EXPECT_NEAR(nvls_warps(4).reduce, 0.25 * 1.0878, 1e-4);
  EXPECT_LT(nvls_warps(4).gather, eight.gather);
}

// 6, 5, 5 and 4 of 20 below a tree's root; the root receives no results.
TEST(NvlsTreeOnChannels, DistributeWarpsByThePositionInTheTree) {
  const NvlsWarps root = nvls_tree_warps(TreeRole::kRoot, 16);
  EXPECT_DOUBLE_EQ(root.gather, nvls_warps(8).gather);
  EXPECT_DOUBLE_EQ(root.hand_out, 0.0);
  const NvlsWarps below = nvls_tree_warps(TreeRole::kBelow, 16);
  EXPECT_LT(below.scatter, root.scatter);
  EXPECT_LT(below.gather, root.gather);
  EXPECT_DOUBLE_EQ(below.reduce, root.reduce);
  EXPECT_GT(below.hand_out, 0.0);
}

TEST(NvlsTreeOnChannels, SendsOnePartOfTheBufferBetweenHosts) {
  const ChannelAlgorithm& tree = *find_channel_algorithm("nvls_tree");
  const GroupLayout layout = make_block_layout(16, 8);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2};
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &layout};
  Bytes between;
  ThreadBlock block;
  Primitive primitive;
  for (int b = 0; b < tree.blocks(call, plan); ++b) {
    tree.block(call, plan, 11, b, block);
    for (std::int64_t i = 0; i < block.primitives; ++i) {
      tree.primitive(call, plan, 11, b, i, primitive);
      for (int s = primitive.sends.first; s < primitive.sends.first + primitive.sends.count; ++s) {
        if (block.sends[static_cast<std::size_t>(s)].peer < 8) between += primitive.size;
      }
    }
  }
  // Of two hosts each is the root of one tree: up in one, down in the other, an eighth of half of the buffer each.
  EXPECT_EQ(between, 128_KiB);
}

}  // namespace
}  // namespace ringwright::collectives::nvls_test
