// Exchanges in the flow model: their members end at the same picosecond as when a listener sends each message by
// itself, whatever else uses their links and whenever.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/flow/exchange_traffic.h"

namespace ringwright::network_models::flow_exchanges_test {
namespace {

using namespace ringwright::literals;

struct Pair {
  explicit Pair(const Traffic& traffic) : model(traffic, Sender::kModel), listener(traffic, Sender::kListener) {
    model.play();
    listener.play();
  }
  Player model;
  Player listener;
};

void expect_equal(const Pair& players) {
  ASSERT_EQ(players.model.ends(), players.listener.ends());
  ASSERT_EQ(players.model.message_ends(), players.listener.message_ends());
  ASSERT_EQ(players.model.usages.size(), players.listener.usages.size());
  for (std::size_t probe = 0; probe < players.model.usages.size(); ++probe) {
    for (std::size_t link = 0; link < kLinks; ++link) {
      const LinkUsage& of_model = players.model.usages[probe][link];
      const LinkUsage& of_listener = players.listener.usages[probe][link];
      ASSERT_NEAR(of_model.bytes, of_listener.bytes, 1e-3) << "probe " << probe << " link " << link;
      ASSERT_EQ(of_model.busy, of_listener.busy) << "probe " << probe << " link " << link;
    }
  }
}

// Three members, so that no pair is three apart: links 0 to 2 and 8 to 10 carry 2 x 10,000 B at 10 GB/s.
TEST(FlowExchanges, MessagesOfAnExchangeShareTheirLinks) {
  const Pair players(Traffic{.exchanges = {all_to_all(3, Bytes(10'000), 1)}});
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows"), 6U);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 6U);
  EXPECT_EQ(players.model.counter("solves"), 0U);
  EXPECT_EQ(players.model.counter("most flows at a time"), 3U);  // one of each member
  EXPECT_EQ(players.model.usages.back()[0].bytes, 2e4);
  EXPECT_EQ(players.model.usages.back()[0].busy, players.listener.usages.back()[0].busy);
}

// Links are as they were after each call; a known outcome is used again.
TEST(FlowExchanges, CallsFollowEachOther) {
  const Pair players(Traffic{.exchanges = {all_to_all(8, Bytes(9'001), 20)}});
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 20U * 56U);
  EXPECT_EQ(players.model.usages.back()[0].bytes, 20.0 * 7.0 * 9'001.0);
  EXPECT_LT(3 * players.model.events(), players.listener.events());
}

// The last member starts when messages to it have arrived, and the others wait for its own.
TEST(FlowExchanges, ALateMemberHoldsUpTheOthers) {
  Traffic traffic{.exchanges = {all_to_all(4, Bytes(10'000), 1)}};
  traffic.exchanges[0].starts[2] = at(50_us);
  const Pair players(traffic);
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 12U);
  for (const std::vector<TimePoint>& ends : players.model.ends()[0]) EXPECT_GT(ends.front(), at(50_us));
}

// It enters after 3 us: 1 us is latency, and 30,000 B share 10 GB/s.
TEST(FlowExchanges, AForeignFlowSplitsTheExchange) {
  Traffic traffic{.exchanges = {all_to_all(4, Bytes(10'000), 1)}};
  traffic.messages = {{.start = at(2_us), .transfer = {.from = RankId(0), .to = RankId(6), .size = Bytes(50'000)}}};
  const Pair players(traffic);
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 0U);
}

// Of two racks of four: 16 messages go from the first to the second, and 12 within each or back.
TEST(FlowExchanges, AForeignFlowSplitsThePartWhoseLinksItUses) {
  Traffic traffic{.racks = true, .exchanges = {all_to_all(8, Bytes(10'000), 1)}};
  traffic.messages = {{.start = at(2_us), .transfer = {.from = RankId(0), .to = RankId(6), .size = Bytes(50'000)}}};
  const Pair players(traffic);
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 12U + 12U + 16U);
}

// The second rack's members are late with the first call, so that it is not over when the first rack's messages among
// themselves have long arrived; those of another exchange have their links at once.
TEST(FlowExchanges, APartThatHasEndedGivesItsLinksToTheNextExchange) {
  Traffic traffic{.racks = true, .exchanges = {all_to_all(8, Bytes(10'000), 1), all_to_all(4, Bytes(10'000), 1)}};
  traffic.exchanges[0].sizes[4][1] = Bytes(1'000'000);  // from rank 4 to rank 6: 100 us
  for (TimePoint& start : traffic.exchanges[1].starts) start = at(50_us);
  const Pair players(traffic);
  expect_equal(players);
  EXPECT_EQ(players.model.counter("flows fast-forwarded"), 56U + 12U);
}

TEST(FlowExchanges, WhatHasArrivedIsKnownInTheMiddle) {
  Traffic traffic{.exchanges = {all_to_all(3, Bytes(10'000), 1)}};
  traffic.exchanges[0].starts[2] = at(50_us);
  Player player(traffic, Sender::kModel);
  std::vector<bool> arrived;
  struct Probe {
    NetworkModel& model;
    std::vector<bool>& arrived;
  } probe = {player.model(), arrived};
  player.engine().at(at(20_us), [&probe] {
    for (std::uint32_t edge = 0; edge < 6; ++edge) probe.arrived.push_back(probe.model.has_arrived(0, edge));
  });
  player.play();
  EXPECT_EQ(arrived, (std::vector<bool>{true, true, true, true, false, false}));
}

// The hash of the network 20 us after the first of three members has started; the last one is late.
std::uint64_t digest_after(Duration first, Duration second) {
  Traffic traffic{.exchanges = {all_to_all(3, Bytes(10'000), 1)}};
  traffic.exchanges[0].starts = {TimePoint(first), TimePoint(second), TimePoint(first + 50_us)};
  Player player(traffic, Sender::kModel);
  struct Probe {
    NetworkModel& model;
    std::uint64_t digest = 0;
  } probe = {player.model()};
  player.engine().at(TimePoint(first + 20_us), [&probe] { probe.digest = probe.model.state_digest().value_or(0); });
  player.play();
  return probe.digest;
}

TEST(FlowExchanges, TheStateIsTheStartsOfMembersRelativeToNow) {
  EXPECT_EQ(digest_after(0_us, 3_us), digest_after(7_us, 10_us));
  EXPECT_NE(digest_after(0_us, 3_us), digest_after(0_us, 4_us));
}

TEST(FlowExchanges, RandomTrafficEndsAtTheSamePicosecond) {
  std::uint64_t fast_forwarded = 0;
  std::uint64_t flows = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    const Pair players(RandomTraffic(seed).draw());
    expect_equal(players);
    if (testing::Test::HasFatalFailure()) return;
    fast_forwarded += players.model.counter("flows fast-forwarded");
    flows += players.model.counter("flows");
  }
  EXPECT_GT(8 * fast_forwarded, flows);
  EXPECT_LT(fast_forwarded, flows);
}

}  // namespace
}  // namespace ringwright::network_models::flow_exchanges_test
