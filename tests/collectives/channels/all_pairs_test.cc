// All pairs: who sends what to whom; the proof for many groups is channel_conformance_test.cc.
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/proof/channel_proof.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives::all_pairs_test {
namespace {

using namespace ringwright::literals;

const ChannelAlgorithm& pairs() {
  return *find_channel_algorithm("all_pairs");
}

CollectiveCall all_reduce(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
}

TEST(AllPairs, IsForAllReducesInsideAHost) {
  const GroupLayout host = make_block_layout(8, 8);
  const GroupLayout hosts = make_block_layout(8, 4);
  CollectiveCall call = all_reduce(host, 1_MiB);
  EXPECT_TRUE(pairs().supports(call, {}));
  call.layout = &hosts;
  EXPECT_FALSE(pairs().supports(call, {}));
  call.layout = &host;
  call.kind = CollectiveKind::kAllGather;
  EXPECT_FALSE(pairs().supports(call, {}));
}

// 1 MiB on 8 channels, each with parts of 16 KiB: seven parts and seven sums are sent, as many received.
TEST(AllPairs, MovesTwiceSevenEighthsOfTheBuffer) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectivePlan plan{.protocol = Protocol::kLl, .channels = 8};
  const ChannelProof proof = prove(pairs(), all_reduce(layout, 1_MiB), plan);
  EXPECT_EQ(proof.violation, "");
  EXPECT_EQ(proof.sent[0], 1_MiB * 14 / 8);
  EXPECT_EQ(proof.received[0], 1_MiB * 14 / 8);
}

TEST(AllPairs, AddsUpAllPeersAtOnce) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectivePlan plan{.protocol = Protocol::kLl, .channels = 8};
  Primitive sum;
  pairs().primitive(all_reduce(layout, 1_MiB), plan, 3, 1, 0, sum);
  EXPECT_EQ(sum.size, 16_KiB);
  EXPECT_EQ(sum.receives.count, 7);
  EXPECT_EQ(sum.sends.count, 7);
  EXPECT_TRUE(sum.adds && sum.stores);
}

// A part of LL beyond a slot of 32 KiB takes several loops: 2 MiB on one channel are 8 parts of 256 KiB.
TEST(AllPairs, LoopsOverBuffersBeyondASlot) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectivePlan plan{.protocol = Protocol::kLl, .channels = 1};
  ThreadBlock block;
  pairs().block(all_reduce(layout, 2_MiB), plan, 0, 1, block);
  EXPECT_EQ(block.primitives, 8);
  pairs().block(all_reduce(layout, 2_MiB), plan, 0, 0, block);
  EXPECT_EQ(block.primitives, 8 * 7);
}

}  // namespace
}  // namespace ringwright::collectives::all_pairs_test
