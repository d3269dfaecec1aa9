// Irregular layouts: algorithms are correct on any of them, and choose their neighbours by host.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"
#include "core/base/random.h"
#include "tests/collectives/example_layouts.h"

namespace ringwright::collectives::layout_test {
namespace {

using testing::ElementsAre;

CollectiveCall call_on(const GroupLayout& layout, CollectiveKind kind, Bytes bytes, int root = 0) {
  return {.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = root};
}

// Up to 24 members placed randomly on up to 6 hosts; one number is the seed of the example.
GroupLayout random_layout(std::uint64_t seed) {
  RandomStream stream(seed, "layout");
  const auto ranks = 2 + stream.next_below(23);
  const auto hosts = 1 + stream.next_below(6);
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  for (std::uint64_t i = 0; i < ranks; ++i) {
    host.push_back(static_cast<std::int64_t>(100 * stream.next_below(hosts)));
    gpu.push_back(static_cast<int>(i));
  }
  return make_group_layout(host, gpu);
}

TEST(AnyLayout, IsCorrect) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const GroupLayout layout = random_layout(seed);
    const int root = static_cast<int>(RandomStream(seed, "root").next_below(static_cast<std::uint64_t>(layout.size())));
    const Bytes bytes(static_cast<std::int64_t>(RandomStream(seed, "bytes").next_below(2'000'000)));
    for (const CollectiveAlgorithm* algorithm : algorithms()) {
      for (const CollectiveKind kind :
           {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
            CollectiveKind::kAllToAll, CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
        const CollectiveCall call = call_on(layout, kind, bytes, root);
        if (!algorithm->supports(call)) continue;
        const Proof proof = prove(*algorithm, call);
        ASSERT_TRUE(proof.holds()) << "seed " << seed << ", " << describe(*algorithm, call) << ": " << proof.violation;
      }
    }
  }
}

// 72 GPUs of one rack and 9 hosts of 8: more members than a word has bits, and hosts of an odd number.
TEST(AnyLayout, OfARackIsCorrect) {
  for (const int per_host : {72, 8}) {
    const GroupLayout layout = make_block_layout(72, per_host);
    for (const CollectiveAlgorithm* algorithm : algorithms()) {
      const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(100'003));
      if (!algorithm->supports(call)) continue;
      const Proof proof = prove(*algorithm, call);
      ASSERT_TRUE(proof.holds()) << describe(*algorithm, call) << ": " << proof.violation;
    }
  }
}

// The receivers of a member in the first step.
std::vector<int> first_peers(std::string_view name, const CollectiveCall& call, int member) {
  CollectiveStep step;
  find_algorithm(name)->step(call, member, 0, step);
  std::vector<int> peers;
  for (const CollectiveSend& send : step.sends) peers.push_back(send.peer);
  return peers;
}

TEST(Ring, GoesThroughAHostBeforeItLeavesIt) {
  const GroupLayout layout = dealt_layout(6, 2);  // hosts {0, 2, 4} and {1, 3, 5}
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(600));
  EXPECT_THAT(first_peers("ring", call, 0), ElementsAre(2));
  EXPECT_THAT(first_peers("ring", call, 4), ElementsAre(1));
  EXPECT_THAT(first_peers("ring", call, 5), ElementsAre(0));
}

TEST(RailRings, WalkOddHostsBackwards) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(3'200));
  EXPECT_THAT(first_peers("rail_rings", call, 1), ElementsAre(2, 5));
  EXPECT_THAT(first_peers("rail_rings", call, 5), ElementsAre(4, 1));
  EXPECT_FALSE(find_algorithm("rail_rings")->supports(call_on(make_block_layout(7, 4), CollectiveKind::kAllReduce,
                                                              Bytes(1))));
}

TEST(HalvingDoubling, BeginsWithTheNearestPartner) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(800));
  for (int member = 0; member < 8; ++member) {
    EXPECT_THAT(first_peers("halving_doubling", call, member), ElementsAre(member ^ 1));
  }
}

TEST(Direct, NoMemberIsFirstOfTwo) {
  const GroupLayout layout = make_block_layout(5, 5);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllToAll, Bytes(500));
  EXPECT_THAT(first_peers("direct", call, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(first_peers("direct", call, 3), ElementsAre(4, 0, 1, 2));
}

TEST(InSwitch, SupportsOneHostOrHostsOfOneMember) {
  const CollectiveAlgorithm& algorithm = *find_algorithm("in_switch");
  EXPECT_TRUE(algorithm.supports(call_on(make_block_layout(8, 8), CollectiveKind::kAllReduce, Bytes(1))));
  EXPECT_TRUE(algorithm.supports(call_on(make_block_layout(8, 1), CollectiveKind::kAllReduce, Bytes(1))));
  EXPECT_FALSE(algorithm.supports(call_on(make_block_layout(8, 4), CollectiveKind::kAllReduce, Bytes(1))));
  EXPECT_FALSE(algorithm.supports(call_on(make_block_layout(8, 8), CollectiveKind::kAllToAll, Bytes(1))));
}

TEST(InSwitch, FirstContributesEverythingThenTakesItsShare) {
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kReduceScatter, Bytes(4'000));
  CollectiveStep step;
  const CollectiveAlgorithm& algorithm = *find_algorithm("in_switch");
  ASSERT_EQ(algorithm.steps(call), 2);
  algorithm.step(call, 2, 0, step);
  ASSERT_EQ(step.sends.size(), 1U);
  EXPECT_EQ(step.sends[0].route_kind, RouteKind::kUpToSwitch);
  EXPECT_EQ(step.sends[0].size, Bytes(4'000));
  EXPECT_TRUE(step.await_everyone);
  algorithm.step(call, 2, 1, step);
  ASSERT_EQ(step.sends.size(), 1U);
  EXPECT_EQ(step.sends[0].route_kind, RouteKind::kDownFromSwitch);
  EXPECT_EQ(step.sends[0].size, Bytes(1'000));
}

TEST(NvlsTree, OnlyHeadsTalkToOtherHosts) {
  const GroupLayout layout = make_block_layout(12, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(1'200));
  const CollectiveAlgorithm& algorithm = *find_algorithm("nvls_tree");
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    for (int member = 0; member < 12; ++member) {
      algorithm.step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        // Whole messages stay on the rail, those to the switch in the host.
        const bool same_rail = send.peer % 4 == member % 4;
        const bool same_host = send.peer / 4 == member / 4;
        EXPECT_TRUE(send.route_kind == RouteKind::kWhole ? same_rail : same_host);
      }
    }
  }
}

TEST(DoubleTree, AHostsChainBeginsAtADifferentGpuInEveryChannel) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(800));
  // In the first step the tails of the chains send up: the tail of channel j is the GPU before j.
  const CollectiveAlgorithm& algorithm = *find_algorithm("double_tree");
  CollectiveStep step;
  SendContents contents;
  const int channels = 4;
  for (int member = 4; member < 8; ++member) {  // the leaf host of tree 0
    algorithm.step(call, member, 0, step);
    ASSERT_EQ(step.sends.size(), 1U);
    EXPECT_EQ(step.sends[0].peer, 4 + (member - 4 + 3) % 4);
    algorithm.contents(call, member, 0, 0, contents);
    EXPECT_THAT(contents.pieces, ElementsAre((member - 4 + 1) % channels));  // one chunk: piece = channel in tree 0
    EXPECT_TRUE(contents.reduce);
  }
}

}  // namespace
}  // namespace ringwright::collectives::layout_test
