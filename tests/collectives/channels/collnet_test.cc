// Reductions in network switches, on channels: bytes on the network, and senders.
#include <algorithm>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/channel_chooser.h"
#include "collectives/channels/network_sum.h"
#include "collectives/proof/channel_proof.h"

namespace ringwright::collectives::channels_room::collnet_test {
namespace {

using namespace ringwright::literals;

CollectiveCall all_reduce(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
}

// Bytes from a member's thread blocks to the network switches, over all channels.
Bytes into_network(std::string_view name, const CollectiveCall& call, const CollectivePlan& plan, int member) {
  const ChannelAlgorithm& algorithm = *find_channel_algorithm(name);
  Bytes sent;
  ThreadBlock block;
  Primitive primitive;
  for (int b = 0; b < algorithm.blocks(call, plan); ++b) {
    algorithm.block(call, plan, member, b, block);
    for (std::int64_t i = 0; i < block.primitives; ++i) {
      algorithm.primitive(call, plan, member, b, i, primitive);
      for (int s = primitive.sends.first; s < primitive.sends.first + primitive.sends.count; ++s) {
        if (block.sends[static_cast<std::size_t>(s)].sum != kNoSum) sent += primitive.size * block.copies;
      }
    }
  }
  return sent;
}

// A ring would send 2 (n - 1) / n of the buffer through all NICs of a host; here each of the four carries a quarter
// once.
TEST(CollnetOnChannels, EveryNicCarriesItsPartOfTheBufferOnce) {
  for (const int hosts : {2, 3, 12}) {
    const GroupLayout layout = make_block_layout(4 * hosts, 4);
    const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 4};
    for (const char* name : {"collnet_direct", "collnet_chain", "nvls"}) {
      EXPECT_EQ(into_network(name, all_reduce(layout, 4_MiB), plan, 6), 1_MiB) << name << ", " << hosts << " hosts";
    }
  }
}

// Two NICs for four GPUs: the first and the third are heads and send half of the buffer each.
TEST(CollnetOnChannels, GpusWithoutANicLeaveTheNetworkToHeads) {
  const GroupLayout layout = make_block_layout(12, 4);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 3, .heads = 2};
  const CollectiveCall call = all_reduce(layout, 3_MiB);
  EXPECT_EQ(into_network("collnet_direct", call, plan, 4), 3_MiB / 2);
  EXPECT_EQ(into_network("collnet_direct", call, plan, 5), Bytes(0));
  EXPECT_EQ(into_network("collnet_direct", call, plan, 6), 3_MiB / 2);
}

TEST(CollnetOnChannels, IsProvedWithAnyNumberOfHeads) {
  for (int per_host = 1; per_host <= 9; ++per_host) {
    for (int heads = 1; heads <= per_host; ++heads) {
      const GroupLayout layout = make_block_layout(3 * per_host, per_host);
      const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 5, .chunk = 1_KiB, .heads = heads};
      const ChannelProof proof =
          prove(*find_channel_algorithm("collnet_direct"), all_reduce(layout, Bytes(60003)), plan);
      EXPECT_TRUE(proof.holds()) << heads << " of " << per_host << ": " << proof.violation;
    }
  }
}

// Of a head's 640 threads 128 scatter, 288 reduce, 128 broadcast and 96 gather; without a NIC 320 and 192.
TEST(CollnetOnChannels, WarpsAreSharedOutByWhatAGpuIs) {
  const ChannelAlgorithm& direct = *find_channel_algorithm("collnet_direct");
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectivePlan plan{.protocol = Protocol::kSimple, .channels = 2, .heads = 2};
  const auto threads = [&](int member, int block) {
    ThreadBlock made;
    direct.block(all_reduce(layout, 1_MiB), plan, member, block, made);
    return made.primitives == 0 ? 0.0 : made.thread_share * 640.0;
  };
  EXPECT_DOUBLE_EQ(threads(0, 0), 128.0);
  EXPECT_DOUBLE_EQ(threads(0, 1), 288.0);
  EXPECT_DOUBLE_EQ(threads(0, 2), 128.0);
  EXPECT_DOUBLE_EQ(threads(0, 3), 96.0);
  EXPECT_DOUBLE_EQ(threads(1, 0), 320.0);
  EXPECT_DOUBLE_EQ(threads(1, 1), 0.0);
  EXPECT_DOUBLE_EQ(threads(1, 3), 192.0);
}

// 8 channels of 4 heads move 32 chunks at a time; two levels want 128 such loops, or 16 of half of the chunk.
TEST(CollnetOnChannels, ChunksShrinkWithTheBuffer) {
  const CollectivePlan plan{.channels = 8};
  const NetworkChunk direct{.bytes = 2_GiB, .concurrent = 32, .depth = 2, .most = 512_KiB};
  EXPECT_EQ(network_chunk(plan, direct), 512_KiB);
  const auto with = [&](Bytes bytes) {
    NetworkChunk wanted = direct;
    wanted.bytes = bytes;
    return network_chunk(plan, wanted);
  };
  EXPECT_EQ(with(1_GiB), 256_KiB);
  EXPECT_EQ(with(64_MiB), 128_KiB);
  EXPECT_EQ(with(32_MiB), 64_KiB);
  EXPECT_EQ(with(1_MiB), 32_KiB);
}

TEST(CollnetOnChannels, RingsStandInWhereTheSwitchesAddNothing) {
  const GroupLayout layout = make_block_layout(16, 8);
  const CollectiveCall call = all_reduce(layout, 1_MiB);
  for (const char* name : {"collnet_direct", "collnet_chain", "nvls"}) {
    const FixedTuner tuner({.algorithm = name, .protocol = Protocol::kSimple, .channels = 2});
    EXPECT_EQ(PlannedChooser(tuner).choose(call).algorithm->name(), "ring");
    EXPECT_EQ(PlannedChooser(tuner, NetworkSums::kYes).choose(call).algorithm->name(), name);
  }
  const GroupLayout one = make_block_layout(8, 8);
  const FixedTuner tuner({.algorithm = "nvls", .protocol = Protocol::kSimple, .channels = 2});
  EXPECT_EQ(PlannedChooser(tuner).choose(all_reduce(one, 1_MiB)).algorithm->name(), "nvls");
}

}  // namespace
}  // namespace ringwright::collectives::channels_room::collnet_test
