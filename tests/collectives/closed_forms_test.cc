// Step by step, algorithms take the times and send the bytes that their papers state.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/bus_bandwidth.h"
#include "collectives/proof/proof.h"
#include "collectives/shapes/pipeline.h"
#include "tests/collectives/example_layouts.h"
#include "tests/collectives/step_clock.h"

namespace ringwright::collectives::closed_forms_test {
namespace {

using namespace ringwright::literals;

// 1 GB/s: a byte takes exactly 1000 ps, so that no rounding hides a wrong formula.
constexpr StepClock kClock{.latency = 1_us, .bandwidth = 1_GBps};
constexpr Duration kPerByte(1'000);

Duration message_time(Bytes size) { return kClock.latency + kPerByte * size.count(); }

Duration time_of(std::string_view name, const CollectiveCall& call) {
  return kClock.run(*find_algorithm(name), call);
}

CollectiveCall call_on(const GroupLayout& layout, CollectiveKind kind, Bytes bytes) {
  return {.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = 0};
}

// Divides by all group sizes used here and by the chunks of pipelines used here.
constexpr Bytes kEven(720'720);

TEST(Ring, AllReduceTakesTwiceRanksMinusOneSteps) {
  for (const int n : {2, 3, 8, 16, 48}) {
    const GroupLayout layout = make_block_layout(n, 8);
    const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(48'000));
    EXPECT_EQ(time_of("ring", call), 2 * (n - 1) * message_time(Bytes(48'000 / n))) << n;
  }
}

TEST(Ring, GatherAndScatterTakeHalfOfAnAllReduce) {
  const GroupLayout layout = make_block_layout(16, 4);
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    EXPECT_EQ(time_of("ring", call_on(layout, kind, Bytes(16'000))), 15 * message_time(Bytes(1'000)));
  }
}

TEST(Ring, BroadcastIsAPipelineOfChunksAlongTheChain) {
  const GroupLayout layout = make_block_layout(6, 2);
  // sqrt(4 * 1,638,400 / 262,144) = 5 chunks of 327,680 bytes.
  const CollectiveCall call = call_on(layout, CollectiveKind::kBroadcast, Bytes(1'638'400));
  EXPECT_EQ(time_of("ring", call), (5 + 6 - 2) * message_time(Bytes(327'680)));
}

TEST(RailRings, StepLastsAsLongAsTheSharesForTheNeighbour) {
  const GroupLayout layout = make_block_layout(16, 4);
  // Three of four rings' slices of S / (n p) = 100 bytes go to the neighbour; the one to the next host is shorter.
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(16 * 4 * 100));
  EXPECT_EQ(time_of("rail_rings", call), 2 * 15 * message_time(Bytes(300)));
}

TEST(HalvingDoubling, AllReduceOfAPowerOfTwoIsRabenseifners) {
  for (const int levels : {1, 2, 3, 5}) {
    const int n = 1 << levels;
    const GroupLayout layout = make_block_layout(n, 4);
    const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(64'000));
    EXPECT_EQ(time_of("halving_doubling", call),
              2 * levels * kClock.latency + kPerByte * (2 * 64'000 / n * (n - 1)));
  }
}

TEST(HalvingDoubling, OtherSizesFoldTheExcessInAndReturnTheResult) {
  const GroupLayout layout = make_block_layout(6, 1);
  // Two levels over a core of 4, and two messages of the whole buffer.
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(4'000));
  EXPECT_EQ(time_of("halving_doubling", call),
            4 * kClock.latency + kPerByte * (2 * 3'000) + 2 * message_time(Bytes(4'000)));
  EXPECT_FALSE(find_algorithm("halving_doubling")->supports(call_on(layout, CollectiveKind::kAllGather, kEven)));
}

TEST(Direct, EveryKindIsOneMessageOfAShare) {
  const GroupLayout layout = make_block_layout(12, 4);
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    EXPECT_EQ(time_of("direct", call_on(layout, kind, Bytes(12'000))), message_time(Bytes(1'000)));
  }
}

TEST(Pairwise, TakesAMessageForEveryPeer) {
  const GroupLayout layout = make_block_layout(12, 4);
  EXPECT_EQ(time_of("pairwise", call_on(layout, CollectiveKind::kAllToAll, Bytes(12'000))),
            11 * message_time(Bytes(1'000)));
}

TEST(Hierarchical, AllReduceIsARingInsideAndARingOnEveryRail) {
  const GroupLayout layout = make_block_layout(24, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(24'000));
  EXPECT_EQ(time_of("hierarchical", call), 2 * 7 * message_time(Bytes(3'000)) + 2 * 2 * message_time(Bytes(1'000)));
}

TEST(Hierarchical, AllToAllGoesToTheRightRailFirst) {
  const GroupLayout layout = make_block_layout(24, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllToAll, Bytes(24'000));
  EXPECT_EQ(time_of("hierarchical", call), 7 * message_time(Bytes(3'000)) + 2 * message_time(Bytes(8'000)));
}

TEST(DoubleTree, OverHostsOfOneTakesChunksAndTwiceTheLogarithm) {
  // Not 3: there one pair is connected in both trees, and its two messages travel as one of twice the size.
  for (const int n : {2, 4, 5, 16, 17, 48}) {
    const GroupLayout layout = make_block_layout(n, 1);
    const int depth = static_cast<int>(std::ceil(std::log2(n)));
    const int chunks = pipeline_chunks(Bytes(4'096'000), 2 * depth - 1);
    const Bytes bytes(4'096'000 / (2 * chunks) * (2 * chunks));  // divides, and is cut into as many chunks
    ASSERT_EQ(pipeline_chunks(bytes, 2 * depth - 1), chunks);
    EXPECT_EQ(time_of("double_tree", call_on(layout, CollectiveKind::kAllReduce, bytes)),
              (chunks - 1 + 2 * depth) * message_time(bytes / (2 * chunks)))
        << n;
  }
}

TEST(DoubleTree, SmallMessagesPayTheLogarithmAndNotTheRanks) {
  const GroupLayout layout = make_block_layout(1'024, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(8));
  EXPECT_EQ(time_of("double_tree", call), 2 * 10 * message_time(Bytes(4)));
}

TEST(InSwitch, AllReduceOfAHostIsAPipelineOfFourStages) {
  const GroupLayout layout = make_block_layout(8, 8);
  // sqrt(3 * 8,388,608 / 262,144) = 9.8: 10 chunks; the size is cut to divide by 8 * 10.
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(8'388'560));
  EXPECT_EQ(time_of("in_switch", call), (10 + 3) * message_time(Bytes(838'856)));
}

// --- bytes per member, against reference formulas: ring wire bytes all-reduce 2 S (n-1)/n, others S (n-1)/n ---

TEST(BytesOnTheWire, BandwidthOptimalOnesSendExactlyTheBusbwFactor) {
  const GroupLayout layout = make_block_layout(16, 4);
  struct Case {
    std::string_view name;
    CollectiveKind kind;
  };
  const std::vector<Case> cases = {
      {"ring", CollectiveKind::kAllReduce},        {"ring", CollectiveKind::kAllGather},
      {"ring", CollectiveKind::kReduceScatter},    {"rail_rings", CollectiveKind::kAllReduce},
      {"rail_rings", CollectiveKind::kAllGather},  {"rail_rings", CollectiveKind::kReduceScatter},
      {"direct", CollectiveKind::kAllToAll},       {"direct", CollectiveKind::kAllGather},
      {"direct", CollectiveKind::kReduceScatter},  {"pairwise", CollectiveKind::kAllToAll},
      {"hierarchical", CollectiveKind::kAllReduce}, {"hierarchical", CollectiveKind::kAllGather},
      {"halving_doubling", CollectiveKind::kAllReduce}, {"halving_doubling", CollectiveKind::kReduceScatter},
  };
  const Bytes bytes(16 * 4 * 1'000);
  for (const Case& c : cases) {
    const CollectiveCall call = call_on(layout, c.kind, bytes);
    const Proof proof = prove(*find_algorithm(c.name), call);
    ASSERT_TRUE(proof.holds()) << proof.violation;
    for (const Bytes sent : proof.sent) {
      EXPECT_EQ(sent, scale(bytes, busbw_factor(c.kind, 16))) << describe(*find_algorithm(c.name), call);
    }
  }
}

TEST(BytesOnTheWire, TreesSendAtMostTwiceTheBuffer) {
  for (const int n : {4, 16, 32}) {  // even: no host is inner in both trees
    const GroupLayout layout = make_block_layout(n, 1);
    const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(4'000'000));
    const Proof proof = prove(*find_algorithm("double_tree"), call);
    ASSERT_TRUE(proof.holds()) << proof.violation;
    const Bytes uneven_pieces(find_algorithm("double_tree")->pieces(call));
    for (const Bytes sent : proof.sent) EXPECT_LE(sent, Bytes(8'000'000) + uneven_pieces);
  }
}

TEST(BytesOnTheWire, NvlsAllReduceMovesTheBufferOnceAndAnNthMorePerDirection) {
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(8'000'000));
  const Proof proof = prove(*find_algorithm("in_switch"), call);
  ASSERT_TRUE(proof.holds()) << proof.violation;
  for (const Bytes sent : proof.sent) EXPECT_NEAR(static_cast<double>(sent.count()), 9e6, 64.0);
  for (const Bytes received : proof.received) EXPECT_NEAR(static_cast<double>(received.count()), 9e6, 64.0);
}

TEST(BytesOnTheWire, AReducingNetworkMovesTheBufferOncePerDirection) {
  const GroupLayout layout = make_block_layout(8, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(8'000'000));
  const Proof proof = prove(*find_algorithm("in_switch"), call);
  ASSERT_TRUE(proof.holds()) << proof.violation;
  for (const Bytes sent : proof.sent) EXPECT_EQ(sent, Bytes(8'000'000));
  for (const Bytes received : proof.received) EXPECT_EQ(received, Bytes(8'000'000));
}

// Bytes that a member sends to other hosts.
Bytes sent_abroad(std::string_view name, const CollectiveCall& call, int member) {
  const CollectiveAlgorithm& algorithm = *find_algorithm(name);
  CollectiveStep step;
  Bytes total;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, member, index, step);
    for (const CollectiveSend& send : step.sends) {
      const std::vector<int>& host_of = call.layout->host_of;
      const bool abroad = host_of[static_cast<std::size_t>(member)] != host_of[static_cast<std::size_t>(send.peer)];
      if (abroad && send.route_kind == RouteKind::kWhole) total += send.size;
    }
  }
  return total;
}

TEST(BytesBetweenHosts, AreSpreadOverAllNicsByAllButTheSingleRing) {
  const GroupLayout layout = make_block_layout(32, 8);  // 4 hosts of 8
  const Bytes bytes(32 * 8 * 1'000);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, bytes);
  for (int member = 0; member < 32; ++member) {
    // Formulas of the head comments: 2 (n-1)/n S/p for rings, 2 (k-1)/k S/p for the hierarchy.
    EXPECT_EQ(sent_abroad("rail_rings", call, member), scale(bytes, 2.0 * 31 / 32 / 8));
    EXPECT_EQ(sent_abroad("hierarchical", call, member), scale(bytes, 2.0 * 3 / 4 / 8));
    EXPECT_LE(sent_abroad("nvls_tree", call, member), scale(bytes, 2.0 / 8));
    EXPECT_LE(sent_abroad("double_tree", call, member), scale(bytes, 2.0 / 8));
  }
  EXPECT_EQ(sent_abroad("ring", call, 7), scale(bytes, 2.0 * 31 / 32));
  EXPECT_EQ(sent_abroad("ring", call, 6), Bytes(0));
}

TEST(RailRings, StayOnTheirRailWhenHostsAreEven) {
  const GroupLayout layout = make_block_layout(32, 8);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, kEven);
  CollectiveStep step;
  for (int member = 0; member < 32; ++member) {
    find_algorithm("rail_rings")->step(call, member, 0, step);
    ASSERT_EQ(step.sends.size(), 2U);
    EXPECT_EQ(step.sends[1].peer, (member + 8) % 32);
  }
}

TEST(BusBandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kAllToAll, 16), 0.9375);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kBroadcast, 8), 1.0);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::kReduce, 8), 1.0);
}

}  // namespace
}  // namespace ringwright::collectives::closed_forms_test
