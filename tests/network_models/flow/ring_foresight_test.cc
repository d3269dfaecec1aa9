// Foreseen edges of rings in the flow model: where another flow shares the links of some edges, the messages of the
// others need no events, and all end at the same picosecond as when a listener sends each by itself.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/flow/ring_traffic.h"

namespace ringwright::network_models::ring_foresight_test {
namespace {

using namespace ringwright::literals;
using flow_rings_test::at;
using flow_rings_test::expect_same_ends;
using flow_rings_test::kRanks;
using flow_rings_test::Player;
using flow_rings_test::random_ring;
using flow_rings_test::Resender;
using flow_rings_test::ring_of;
using flow_rings_test::Traffic;

Transfer foreign(std::size_t from, std::size_t to, Bytes size) {
  return {.from = RankId(from), .to = RankId(to), .size = size};
}

// Link 0 is shared from 20 us on until long after the ring: two events a step for the latency and the end of edge 0's
// message, and one now and then where no more arrivals are stored. The listener has two for each of eight edges.
TEST(RingForesight, OnlyTheEdgeThatSharesItsLinksHasEvents) {
  Traffic traffic{.rings = {ring_of(kRanks, Bytes(10'000), 400)}};
  traffic.messages = {{.start = at(20_us), .transfer = foreign(0, 6, Bytes(100'000'000))}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  expect_same_ends(model, listener);
  EXPECT_LT(4 * model.events(), listener.events());
}

// Rank 3's link is slow, so that its edge is late and the members behind it wait: what they have received counts.
TEST(RingForesight, MembersThatAreStepsBehindFindWhatHasArrived) {
  Traffic traffic{.rings = {ring_of(kRanks, Bytes(20'000), 60)}};
  traffic.messages = {{.start = at(5_us), .transfer = foreign(3, 6, Bytes(3'000'000))},
                      {.start = at(90_us), .transfer = foreign(1, 5, Bytes(400'000))}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  expect_same_ends(model, listener);
}

// Long rings with as many as thirty messages and ten changes of capacity on their links.
TEST(RingForesight, LongRingsAmongMuchOtherTrafficEndAtTheSamePicosecond) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, "foresight");
    const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random.next_below(n)); };
    const auto moment = [&] { return at(Duration(static_cast<std::int64_t>(below(1'000)) * 500'000)); };
    Traffic traffic{.latency = below(8) > 0};
    for (std::size_t ring = 1 + below(3); ring > 0; --ring) {
      traffic.rings.push_back(random_ring(random));
      traffic.rings.back().messages += static_cast<std::uint32_t>(below(200));
    }
    for (std::size_t i = below(31); i > 0; --i) {
      const std::size_t from = below(kRanks);
      const std::size_t to = (from + 1 + below(kRanks - 1)) % kRanks;
      const Bytes size(12'345 * static_cast<std::int64_t>(1 + below(20)));
      traffic.messages.push_back({.start = moment(), .transfer = foreign(from, to, size)});
    }
    for (std::size_t i = below(3) == 0 ? below(11) : 0; i > 0; --i) {
      traffic.changes.push_back({.when = moment(),
                                 .link = LinkId(below(flow_rings_test::kPlanes * flow_rings_test::kLinks)),
                                 .capacity = Bandwidth(1e9 * static_cast<double>(1 + below(12)))});
    }
    traffic.probes = {at(30_us), at(100_us), at(300_us)};
    Player model(traffic, Resender::kModel);
    Player listener(traffic, Resender::kListener);
    model.play();
    listener.play();
    ASSERT_EQ(model.ring_ends(), listener.ring_ends()) << "seed " << seed;
    ASSERT_EQ(model.ends(), listener.ends()) << "seed " << seed;
    for (std::size_t probe = 0; probe < model.usages.size(); ++probe) {
      for (std::size_t link = 0; link < model.usages[probe].size(); ++link) {
        ASSERT_NEAR(model.usages[probe][link].bytes, listener.usages[probe][link].bytes, 1e-3) << "seed " << seed;
        ASSERT_EQ(model.usages[probe][link].busy, listener.usages[probe][link].busy) << "seed " << seed;
      }
    }
  }
}

// Rank 0 starts 60 us late, so that after a few messages the others wait for it: the links of edge 4 are not in use.
TEST(RingForesight, LinksOfAWaitingEdgeCanBeSetAside) {
  Traffic traffic{.rings = {ring_of(kRanks, Bytes(10'000), 20)}};
  traffic.rings.front().starts.front() = at(60_us);
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  const std::vector<LinkId> links = {LinkId(4), LinkId(kRanks + 5)};
  bool in_use = false;
  bool waiting = false;
  struct Probe {
    NetworkModel& network;
    const std::vector<LinkId>& links;
    bool& in_use;
    bool& waiting;
    bool trespassed = true;
  } probe = {model.model(), links, in_use, waiting};
  Engine& engine = model.engine();
  engine.at(at(1'500_ns), [&probe] { probe.in_use = !probe.network.set_aside(probe.links, at(2_us)); });
  engine.at(at(30_us), [&probe] {
    probe.waiting = probe.network.set_aside(probe.links, at(1_ms));
    probe.trespassed = probe.network.trespassed();
  });
  model.play();
  listener.play();
  EXPECT_TRUE(in_use);
  EXPECT_TRUE(waiting);
  EXPECT_FALSE(probe.trespassed);
  EXPECT_TRUE(model.model().trespassed());  // the ring used them later
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
}

// Whoever asks for links of a ring, and for how long, changes none of its moments.
TEST(RingForesight, LinksThatAreAskedForLeaveTheRingAsItIs) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, "asked for");
    const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random.next_below(n)); };
    const auto moment = [&] { return at(Duration(static_cast<std::int64_t>(below(1'000)) * 200'000)); };
    Traffic traffic{.latency = below(8) > 0, .rings = {ring_of(kRanks, Bytes(10'000), 40)}};
    traffic.rings.front().starts[below(kRanks)] = moment();
    traffic.messages = {{.start = moment(), .transfer = foreign(below(4), 4 + below(4), Bytes(1'000'000))}};
    Player model(traffic, Resender::kModel);
    Player listener(traffic, Resender::kListener);
    struct Asked {
      NetworkModel& network;
      Engine& engine;
    } asked = {model.model(), model.engine()};
    for (std::size_t i = 0; i < 10; ++i) {
      const LinkId link(below(kRanks));
      asked.engine.at(moment(), [&asked, link] { (void)asked.network.set_aside({&link, 1}, asked.engine.now()); });
    }
    model.play();
    listener.play();
    ASSERT_EQ(model.ring_ends(), listener.ring_ends()) << "seed " << seed;
    ASSERT_EQ(model.ends(), listener.ends()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ringwright::network_models::ring_foresight_test
