// Rings in the flow model: their members end at the same picosecond as when a listener sends each message after those
// it waits for have arrived, whatever else uses their links and whenever.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/flow/ring_traffic.h"

namespace ringwright::network_models::flow_rings_test {
namespace {

using namespace ringwright::literals;

// 10,000 B take 1 us on all links but that of rank 3, which paces the ring after its first round; latencies differ by
// nanoseconds.
TEST(FlowRings, ARingAloneIsOneEventAnEdge) {
  const Traffic traffic{.rings = {ring_of(8, Bytes(10'000), 100)}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.fast_forwarded(), 800U);
  EXPECT_LT(20 * model.events(), listener.events());
  EXPECT_EQ(model.usages.back()[0].bytes, 1e6);
  EXPECT_EQ(model.usages.back()[0].busy, 100_us);
}

// Two rings in opposite directions on planes of their own: the slowest link of both paces all members.
TEST(FlowRings, TwoRingsAtOnceAreOneEventAMember) {
  const Traffic traffic{.rings = {rings_of({{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}}, {0, 1}, Bytes(10'000), 100)}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.fast_forwarded(), 1000U);
  EXPECT_LT(20 * model.events(), listener.events());
  EXPECT_EQ(model.usages.back()[kLinks].bytes, 1e6);
}

TEST(FlowRings, RingsThatShareALinkMoveMessageByMessage) {
  const Traffic traffic{.rings = {rings_of({{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}}, {1, 1}, Bytes(10'000), 20)}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
}

// Edge 0 sends 1,000 B in 1.1 us; the foreign message shares its link from 1.5 us on.
TEST(FlowRings, AForeignFlowSplitsTheRing) {
  Traffic traffic{.rings = {ring_of(4, Bytes(10'000), 30)}};
  const Transfer foreign{.from = RankId(0), .to = RankId(6), .size = Bytes(50'000)};
  traffic.messages = {{.start = at(20'300_ns), .transfer = foreign}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  expect_same_ends(model, listener);
  EXPECT_GT(model.fast_forwarded(), 60U);   // before and after it
  EXPECT_LT(model.fast_forwarded(), 120U);
}

TEST(FlowRings, EdgesThatShareALinkMoveMessageByMessage) {
  // 0 to 3 and 3 to 6 share link 16.
  const Traffic traffic{.rings = {ring_of(std::vector<std::size_t>{0, 3, 6}, Bytes(10'000), 20)}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.fast_forwarded(), 0U);
}

TEST(FlowRings, TheNumberOfArrivedMessagesIsKnownInTheMiddle) {
  const Traffic traffic{.rings = {ring_of(2, Bytes(10'000), 50)}};
  Player model(traffic, Resender::kModel);
  std::uint32_t arrived = 0;
  struct Probe {
    NetworkModel& model;
    std::uint32_t& arrived;
  } probe = {model.model(), arrived};
  Engine& engine = model.engine();
  engine.at(at(21_us), [&probe] { probe.arrived = probe.model.arrived_in(0, 0); });
  model.play();
  EXPECT_EQ(arrived, 10U);  // each takes 1 us and a little more than 1 us of latency
}

TEST(FlowRings, RandomTrafficEndsAtTheSamePicosecond) {
  std::uint64_t fast_forwarded = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Traffic traffic = random_traffic(seed);
    Player model(traffic, Resender::kModel);
    Player listener(traffic, Resender::kListener);
    model.play();
    listener.play();
    ASSERT_EQ(model.ring_ends(), listener.ring_ends()) << "seed " << seed;
    ASSERT_EQ(model.ends(), listener.ends()) << "seed " << seed;
    ASSERT_EQ(model.usages.size(), listener.usages.size());
    for (std::size_t probe = 0; probe < model.usages.size(); ++probe) {
      for (std::size_t link = 0; link < model.usages[probe].size(); ++link) {
        ASSERT_NEAR(model.usages[probe][link].bytes, listener.usages[probe][link].bytes, 1e-3)
            << "seed " << seed << " probe " << probe << " link " << link;
        ASSERT_EQ(model.usages[probe][link].busy, listener.usages[probe][link].busy)
            << "seed " << seed << " probe " << probe << " link " << link;
      }
    }
    fast_forwarded += model.fast_forwarded();
  }
  EXPECT_GT(fast_forwarded, 100'000U);
}

}  // namespace
}  // namespace ringwright::network_models::flow_rings_test
