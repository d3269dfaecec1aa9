// One message between two ranks, chunk by chunk.
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/proof/channel_proof.h"

namespace ringwright::collectives::send_test {
namespace {

using namespace ringwright::literals;

TEST(SendOnChannels, BringsEveryByteToTheOtherEnd) {
  const GroupLayout layout = make_block_layout(2, 1);
  for (const int root : {0, 1}) {
    for (const Bytes bytes : {Bytes(1), Bytes(60'003)}) {
      const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = bytes, .layout = &layout, .root = root};
      const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 4, .chunk = 1_KiB};
      const ChannelProof proof = prove(channel_send(), call, plan);
      EXPECT_TRUE(proof.holds()) << proof.violation;
      EXPECT_GE(proof.received[static_cast<std::size_t>(1 - root)], bytes);  // chunks are padded to 16 bytes
    }
  }
}

TEST(SendOnChannels, SharesTheMessageAmongItsChannels) {
  const GroupLayout layout = make_block_layout(2, 2);
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = 1_MiB, .layout = &layout};
  ThreadBlock block;
  channel_send().block(call, {.protocol = Protocol::kSimple, .channels = 4, .chunk = 128_KiB}, 0, 0, block);
  EXPECT_EQ(block.copies, 4);
  EXPECT_EQ(block.primitives, 2);  // 256 KiB a channel
}

}  // namespace
}  // namespace ringwright::collectives::send_test
