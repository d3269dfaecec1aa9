// MPI's algorithms by name take the times of their papers and use the same partners.
#include <bit>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "tests/collectives/step_clock.h"

namespace ringwright::collectives::mpi_algorithms_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;

constexpr StepClock kClock{.latency = 1_us, .bandwidth = 1_GBps};
constexpr Duration kPerByte(1'000);

CollectiveCall call_on(const GroupLayout& layout, CollectiveKind kind, Bytes bytes, int root = 0) {
  return {.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = root};
}

Duration time_of(std::string_view name, const CollectiveCall& call) {
  return kClock.run(*find_algorithm(name), call);
}

// Receivers of member 0, step by step.
std::vector<int> peers_of_first(std::string_view name, const CollectiveCall& call) {
  const CollectiveAlgorithm& algorithm = *find_algorithm(name);
  std::vector<int> peers;
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, 0, index, step);
    peers.push_back(step.sends.empty() ? -1 : step.sends.front().peer);
  }
  return peers;
}

TEST(RecursiveDoubling, SwapsWholeBuffersInLogarithmicallyManySteps) {
  const GroupLayout layout = make_block_layout(16, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(4'000));
  EXPECT_EQ(time_of("recursive_doubling", call), 4 * (kClock.latency + kPerByte * 4'000));
  EXPECT_THAT(peers_of_first("recursive_doubling", call), ElementsAre(1, 2, 4, 8));
}

// 200 = 128 + 72: one step to fold 72 members in, seven among 128, one to return the results.
TEST(RecursiveDoubling, FoldsMembersBeyondAPowerOfTwo) {
  const GroupLayout layout = make_block_layout(200, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(1'000));
  EXPECT_EQ(time_of("recursive_doubling", call), 9 * (kClock.latency + kPerByte * 1'000));
}

TEST(RecursiveDoubling, GathersFromNearToFarAndScattersFromFarToNear) {
  const GroupLayout layout = make_block_layout(8, 1);
  EXPECT_THAT(peers_of_first("recursive_doubling", call_on(layout, CollectiveKind::kAllGather, Bytes(800))),
              ElementsAre(1, 2, 4));
  EXPECT_THAT(peers_of_first("recursive_doubling", call_on(layout, CollectiveKind::kReduceScatter, Bytes(800))),
              ElementsAre(4, 2, 1));
}

TEST(Butterflies, MoveNoMoreThanTheyMust) {
  const GroupLayout layout = make_block_layout(32, 4);
  for (const char* name : {"recursive_doubling", "bine", "bruck"}) {
    const CollectiveCall call = call_on(layout, CollectiveKind::kAllGather, Bytes(32'000));
    EXPECT_EQ(time_of(name, call), 5 * kClock.latency + kPerByte * 31'000) << name;
  }
  EXPECT_EQ(time_of("bine", call_on(layout, CollectiveKind::kAllReduce, Bytes(32'000))),
            10 * kClock.latency + kPerByte * 2 * 31'000);
}

// (1 - (-2)^i) / 3: 1, -1, 3, -5 from member 0 of 16.
TEST(Bine, PairsPartnersAtDistancesWithAlternatingSigns) {
  const GroupLayout layout = make_block_layout(16, 1);
  EXPECT_THAT(peers_of_first("bine_doubling", call_on(layout, CollectiveKind::kAllReduce, Bytes(16))),
              ElementsAre(1, 15, 3, 11));
}

TEST(Bruck, NeedsNoPowerOfTwo) {
  // Distances 1, 2, 4, 8: 1 + 2 + 4 + 5 pieces of 100 bytes.
  const GroupLayout layout = make_block_layout(13, 1);
  EXPECT_EQ(time_of("bruck", call_on(layout, CollectiveKind::kAllGather, Bytes(1'300))),
            4 * kClock.latency + kPerByte * 1'200);
}

// Half of an all-to-all's 8 pieces move in each of three steps.
TEST(Bruck, MovesHalfOfAnExchangeInEveryStep) {
  const GroupLayout layout = make_block_layout(8, 1);
  EXPECT_EQ(time_of("bruck", call_on(layout, CollectiveKind::kAllToAll, Bytes(800))),
            3 * (kClock.latency + kPerByte * 400));
}

TEST(NeighborExchange, TakesHalfAsManyStepsAsMembers) {
  const GroupLayout layout = make_block_layout(10, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllGather, Bytes(1'000));
  EXPECT_EQ(time_of("neighbor_exchange", call), 5 * kClock.latency + kPerByte * 900);
  EXPECT_THAT(peers_of_first("neighbor_exchange", call), ElementsAre(1, 9, 1, 9, 1));
}

TEST(Binomial, SendsToTheFarthestFirst) {
  const GroupLayout layout = make_block_layout(11, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kBroadcast, Bytes(100));
  EXPECT_EQ(time_of("binomial", call), 4 * (kClock.latency + kPerByte * 100));
  EXPECT_THAT(peers_of_first("binomial", call), ElementsAre(8, 4, 2, 1));
  EXPECT_THAT(peers_of_first("binomial", call_on(layout, CollectiveKind::kReduce, Bytes(100), 1)),
              ElementsAre(-1, 9, -1, -1));
}

TEST(ScatterAllGather, CostsTwiceTheDataAndFewSteps) {
  const GroupLayout layout = make_block_layout(16, 1);
  const CollectiveCall broadcast = call_on(layout, CollectiveKind::kBroadcast, Bytes(16'000), 3);
  EXPECT_EQ(time_of("scatter_allgather", broadcast), 8 * kClock.latency + kPerByte * 30'000);
  EXPECT_EQ(time_of("scatter_allgather", call_on(layout, CollectiveKind::kReduce, Bytes(16'000), 3)),
            8 * kClock.latency + kPerByte * 30'000);
  EXPECT_EQ(time_of("scatter_ring", broadcast), (4 + 15) * kClock.latency + kPerByte * 30'000);
}

}  // namespace
}  // namespace ringwright::collectives::mpi_algorithms_test
