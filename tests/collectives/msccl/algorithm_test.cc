// Programs as channel algorithms: thread blocks, ports, messages that fit into slots, dependences.
#include "collectives/msccl/algorithm.h"

#include <gtest/gtest.h>

#include "core/base/check.h"
#include "tests/collectives/msccl/example_programs.h"

namespace ringwright::collectives::algorithm_test {
namespace {

using namespace ringwright::literals;

MscclAlgorithm algorithm(const std::string& text) {
  auto program = parse_msccl(text, "p.xml");
  CHECK(program.has_value(), render(program.error()));
  return MscclAlgorithm(std::move(*program));
}

CollectiveCall all_reduce(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
}

TEST(MscclAlgorithm, IsForItsKindSizeAndNumberOfRanks) {
  const MscclAlgorithm ring = algorithm(ring_all_reduce(4));
  const GroupLayout four = make_block_layout(4, 4);
  const GroupLayout eight = make_block_layout(8, 8);
  EXPECT_TRUE(ring.matches(all_reduce(four, 1_KiB)));
  EXPECT_FALSE(ring.matches(all_reduce(four, 1_MiB)));  // maxBytes is exclusive
  EXPECT_FALSE(ring.matches(all_reduce(eight, 1_KiB)));
  EXPECT_FALSE(ring.matches({.kind = CollectiveKind::kAllGather, .bytes = 1_KiB, .layout = &four}));
  EXPECT_EQ(ring.plan().algorithm, "own_ring");
  EXPECT_EQ(ring.plan().protocol, Protocol::kLl);
}

TEST(MscclAlgorithm, BlocksAreJoinedByQueues) {
  const MscclAlgorithm ring = algorithm(ring_all_reduce(4));
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call = all_reduce(layout, 64_KiB);
  ThreadBlock block;
  ring.block(call, ring.plan(), 2, 0, block);
  ASSERT_EQ(block.receives.size(), 1u);
  EXPECT_EQ(block.receives[0].peer, 1);
  EXPECT_EQ(block.sends[0].peer, 3);
  EXPECT_EQ(block.primitives, 7);  // 2 * 4 - 1 steps, one message each: 16 KiB fit into a slot of LL
  Primitive primitive;
  ring.primitive(call, ring.plan(), 2, 0, 1, primitive);
  EXPECT_EQ(primitive.size, 16_KiB);
  EXPECT_TRUE(primitive.adds);
  EXPECT_FALSE(primitive.stores);
}

// 512 KiB in 4 chunks of 128 KiB: a slot of LL holds 32 KiB, so the program runs four times.
TEST(MscclAlgorithm, LargeChunksGoInLoops) {
  const MscclAlgorithm ring = algorithm(ring_all_reduce(4));
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call = all_reduce(layout, 512_KiB);
  ThreadBlock block;
  ring.block(call, ring.plan(), 0, 0, block);
  EXPECT_EQ(block.primitives, 4 * 7);
  Bytes sent;
  Primitive primitive;
  for (std::int64_t i = 0; i < block.primitives; ++i) {
    ring.primitive(call, ring.plan(), 0, 0, i, primitive);
    EXPECT_LE(primitive.size, 32_KiB);
    if (primitive.sends.count > 0) sent += primitive.size;
  }
  EXPECT_EQ(sent, 6 * 128_KiB);  // a ring sends 2 (n - 1) of n chunks
}

TEST(MscclAlgorithm, WaitsAreForTheSameLoop) {
  const MscclAlgorithm pair = algorithm(exchange_and_add());
  const GroupLayout layout = make_block_layout(2, 2);
  const CollectiveCall call = all_reduce(layout, 512_B);
  CollectivePlan plan = pair.plan();
  plan.chunk = 256_B;  // two loops
  Primitive primitive;
  pair.primitive(call, plan, 0, 1, 1, primitive);
  ASSERT_EQ(primitive.after.size(), 1u);
  EXPECT_EQ(primitive.after[0].block, 0);
  EXPECT_EQ(primitive.after[0].primitive, 3);  // step 1 of the second loop of two steps
  EXPECT_TRUE(primitive.adds);
  pair.primitive(call, plan, 0, 0, 1, primitive);
  EXPECT_TRUE(primitive.notifies);
  pair.primitive(call, plan, 0, 0, 0, primitive);
  EXPECT_FALSE(primitive.notifies);
}

TEST(MscclAlgorithm, PiecesAreTheChunks) {
  const MscclAlgorithm ring = algorithm(ring_all_reduce(4));
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call = all_reduce(layout, 1001_B);
  Bytes sum;
  for (int piece = 0; piece < ring.pieces(call, ring.plan()); ++piece) sum += ring.piece_size(call, ring.plan(), piece);
  EXPECT_EQ(sum, 1001_B);
  PrimitiveContents contents;
  ring.contents(call, ring.plan(), 1, 0, 0, contents);
  EXPECT_EQ(contents.reads, std::vector<int>{1});
  EXPECT_TRUE(contents.stores.empty());
}

// A member may have fewer blocks than others.
TEST(MscclAlgorithm, MembersMayHaveFewerBlocks) {
  const MscclAlgorithm pair = algorithm(exchange_and_add());
  const GroupLayout layout = make_block_layout(2, 2);
  const CollectiveCall call = all_reduce(layout, 512_B);
  EXPECT_EQ(pair.blocks(call, pair.plan()), 2);
  ThreadBlock block;
  pair.block(call, pair.plan(), 0, 5, block);
  EXPECT_EQ(block.primitives, 0);
}

}  // namespace
}  // namespace ringwright::collectives::algorithm_test
