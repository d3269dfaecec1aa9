// Trees on channels: peers, and how chunks shrink.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"

namespace ringwright::collectives::tree_test {
namespace {

using namespace ringwright::literals;

const ChannelAlgorithm& tree() {
  return *find_channel_algorithm("tree");
}

CollectiveCall all_reduce(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
}

TEST(TreeOnChannels, OnOneHostIsAChainThatTurnsAtItsHead) {
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call = all_reduce(layout, 1_KiB);
  const CollectivePlan plan{.protocol = Protocol::kLl, .channels = 1};
  ThreadBlock head;
  tree().block(call, plan, 0, 0, head);
  EXPECT_EQ(head.receives.size(), 1U);
  EXPECT_EQ(head.sends.size(), 1U);
  EXPECT_DOUBLE_EQ(head.thread_share, 1.0);  // both directions in one primitive
  ThreadBlock tail;
  tree().block(call, plan, 3, 0, tail);
  EXPECT_TRUE(tail.receives.empty());
  EXPECT_EQ(tail.sends.at(0).peer, 2);
  EXPECT_DOUBLE_EQ(tail.thread_share, 0.7);
}

TEST(TreeOnChannels, OnlyHeadsOfChainsLeaveTheirHosts) {
  const GroupLayout layout = make_block_layout(32, 4);
  const CollectiveCall call = all_reduce(layout, 1_MiB);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 8};
  std::set<int> heads;
  ThreadBlock block;
  for (int b = 0; b < tree().blocks(call, plan); ++b) {
    for (int member = 0; member < 32; ++member) {
      tree().block(call, plan, member, b, block);
      const bool leaves =
          std::ranges::any_of(block.sends, [&](const SendPort& port) { return port.peer / 4 != member / 4; });
      if (leaves) heads.insert(member % 4);
    }
  }
  EXPECT_EQ(heads.size(), 4U);  // every GPU heads the chains of some channels
}

TEST(TreeOnChannels, HasAtMostThreeChildren) {
  const GroupLayout layout = make_block_layout(60, 4);
  const CollectiveCall call = all_reduce(layout, 1_MiB);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2};
  ThreadBlock block;
  std::size_t most = 0;
  for (int member = 0; member < 60; ++member) {
    tree().block(call, plan, member, 0, block);
    most = std::max(most, block.receives.size());
  }
  EXPECT_EQ(most, 3U);  // two child hosts and the next in the chain
}

Bytes first_message(const GroupLayout& layout, Bytes bytes, Protocol protocol) {
  const CollectivePlan plan{.protocol = protocol, .channels = 4};
  Primitive first;
  tree().primitive(all_reduce(layout, bytes), plan, layout.size() - 1, 0, 0, first);
  return first.size;
}

TEST(TreeOnChannels, SendsWholeSlotsOrWhatThereIs) {
  const GroupLayout layout = make_block_layout(64, 4);
  EXPECT_EQ(first_message(layout, 1_GiB, Protocol::kSimple), 512_KiB);
  EXPECT_EQ(first_message(layout, 1_MiB, Protocol::kSimple), 256_KiB);
  EXPECT_EQ(first_message(layout, 512_KiB, Protocol::kLl), 32_KiB);
}

// calcCollChunking of src/enqueue.cc (2.22 to 2.27) halves 576,000 bytes while there are fewer than 86.4 loops for 5.4
// steps and chunks are above 128 KiB, then while fewer than 21.6 and above 32 KiB; the rest is a multiple of 1920.
TEST(TreeOnChannels, ChunksOfLl128ShrinkWithTheBuffer) {
  const GroupLayout layout = make_block_layout(64, 4);
  EXPECT_EQ(first_message(layout, 1_GiB, Protocol::kLl128), Bytes(576'000));
  EXPECT_EQ(first_message(layout, 64_MiB, Protocol::kLl128), Bytes(144'000));
  EXPECT_EQ(first_message(layout, 16_MiB, Protocol::kLl128), Bytes(37 * 1'920));
  EXPECT_EQ(first_message(layout, 4_MiB, Protocol::kLl128), Bytes(18 * 1'920));
}

}  // namespace
}  // namespace ringwright::collectives::tree_test
