// Times of thread blocks, slots, proxies; each derived by hand from a few round constants.
#include "core/run/kernels/chunk_player.h"

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/msccl/plan_algorithm.h"
#include "tests/collectives/msccl/example_plans.h"
#include "tests/support/channel_doubles.h"
#include "tests/support/chunk_case.h"

namespace ringwright::chunk_player_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::end_of;
using test::play;
using test::ProgramBuilder;
using test::round_costs;
using Case = test::ChunkCase;

TEST(ChunkPlayer, InsideAHostMessagesFollowOneAnotherAndAreVisibleOneHopLater) {
  const test::PlainPipe three(3, Bytes(1000));
  const RunResult result = play({.algorithm = three});
  // Launched at 5 us. Sent by 7, 9, 11 us; visible at 9, 11, 13; each takes the reader 2 us.
  EXPECT_EQ(end_of(result, 0), TimePoint(11_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(15_us));
  EXPECT_EQ(result.record.messages, 3U);
  EXPECT_EQ(result.record.sent[0][0], Bytes(3000));
}

TEST(ChunkPlayer, ASenderWaitsForAFreeSlot) {
  const test::PlainPipe wide(3, Bytes(1000), kSlots);
  const RunResult result = play({.algorithm = wide});
  // One message fills the queue: 7 sent, 9 visible, 11 read, 13 free; and so on: every message takes 8 us.
  EXPECT_EQ(end_of(result, 0), TimePoint(7_us + 2 * 8_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(11_us + 2 * 8_us));
}

TEST(ChunkPlayer, EightSlotsAreInFlight) {
  const test::PlainPipe nine(9, Bytes(1000));
  const RunResult result = play({.algorithm = nine});
  // Sender and reader keep pace, so slots come free in time: nine messages of 2 us.
  EXPECT_EQ(end_of(result, 0), TimePoint(5_us + 9 * 2_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(5_us + 9 * 2_us + 2_us + 2_us));
}

TEST(ChunkPlayer, ALinkSlowerThanTheChannelSetsThePace) {
  const test::PlainPipe two(2, Bytes(1000));
  const RunResult result = play({.algorithm = two, .wire = Bandwidth(0.2e9)});
  // 1 us before it moves and 5 us on the wire a message; the reader observes the second at 5 + 12 + 2 us.
  EXPECT_EQ(end_of(result, 0), TimePoint(17_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(21_us));
}

TEST(ChunkPlayer, FlagsOfLlTakeHalfOfTheWire) {
  const test::PlainPipe one(1, Bytes(1000));
  const RunResult result = play({.algorithm = one, .plan = {.protocol = Protocol::kLl}, .wire = Bandwidth(0.5e9)});
  EXPECT_EQ(end_of(result, 0), TimePoint(10_us));  // after 1 us of its primitive, 2000 bytes at 0.5 GB/s
}

TEST(ChunkPlayer, EveryFurtherChannelDelaysTheFirstPrimitives) {
  ChannelCosts costs = round_costs();
  costs.launch_channel = 3_us;
  const test::PlainPipe one(1, Bytes(1000));
  const RunResult result = play({.algorithm = one, .plan = {.channels = 4}, .costs = costs});
  EXPECT_EQ(end_of(result, 0), TimePoint(5_us + 3 * 3_us + 2_us));
}

// 64 threads of 512: an eighth of the rate with Simple, the square root of it where flags travel with the data.
TEST(ChunkPlayer, FewerThreadsMoveLess) {
  const test::PlainPipe one(1, Bytes(1000));
  const RunResult simple = play({.algorithm = one, .plan = {.protocol = Protocol::kSimple, .threads = 64}});
  EXPECT_EQ(end_of(simple, 0), TimePoint(5_us + 1_us + 8_us));
  const RunResult ll = play({.algorithm = one, .plan = {.protocol = Protocol::kLl, .threads = 128}});
  EXPECT_EQ(end_of(ll, 0), TimePoint(5_us + 1_us + 2_us));
}

// Two messages are in the buffer at 7 and 9 us and known to the proxy 3 us later; it has 5 us of work with each.
TEST(ChunkPlayer, AProxySendsOneMessageAfterAnother) {
  ChannelCosts costs = round_costs();
  costs.network_proxy = 5_us;
  const test::PlainPipe two(2, Bytes(1000));
  const RunResult result = play({.algorithm = two, .per_host = 1, .costs = costs});
  // Sent at 15 and 20 us, arrived 5 us later; the receiver's proxy is done at 25 and 30; 6 us of flush, 2 us to store.
  EXPECT_EQ(end_of(result, 1), TimePoint(30_us + 6_us + 2_us));
}

// 2000 bytes of LL in host memory, read at 1 GB/s before they are sent: 2 us.
TEST(ChunkPlayer, LinesOfLlAreReadByTheProxy) {
  ChannelCosts costs = round_costs();
  const test::PlainPipe one(1, Bytes(1000));
  const CollectivePlan plan{.protocol = Protocol::kLl};
  const RunResult at_once = play({.algorithm = one, .plan = plan, .per_host = 1, .costs = costs});
  costs.network_host_rate = 1_GBps;
  const RunResult read = play({.algorithm = one, .plan = plan, .per_host = 1, .costs = costs});
  EXPECT_EQ(end_of(read, 1) - end_of(at_once, 1), 2_us);
}

TEST(ChunkPlayer, BetweenHostsAProxySendsAndTheReaderFlushes) {
  const test::PlainPipe two(2, Bytes(1000));
  const RunResult simple = play({.algorithm = two, .per_host = 1});
  // In the buffer at 7 us, on the NIC at 10, arrived at 15 (4 us of latency, 1 us of bytes), flushed at 21, stored at
  // 23. The second is 2 us behind everywhere.
  EXPECT_EQ(end_of(simple, 0), TimePoint(9_us));
  EXPECT_EQ(end_of(simple, 1), TimePoint(25_us));
  const RunResult ll = play({.algorithm = two, .plan = {.protocol = Protocol::kLl}, .per_host = 1});
  // Twice the bytes on the wire, and 1 us of polling instead of 6 of flushing.
  EXPECT_EQ(end_of(ll, 1), TimePoint(25_us + 1_us - 5_us));
}

TEST(ChunkPlayer, ReceiversGrantSlotsBetweenHosts) {
  const test::PlainPipe wide(2, Bytes(1000), kSlots);
  const RunResult result = play({.algorithm = wide, .per_host = 1});
  // The first is stored at 23 us; its slot is granted 4 us later (post and poll). The sender's own slot was free when
  // the message had arrived, at 15: the second waits on the NIC from 20 to 27, arrives at 32, is read from 38 to 40.
  EXPECT_EQ(end_of(result, 0), TimePoint(17_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(40_us));
}

TEST(ChunkPlayer, MessagesAboveTheEagerLimitAreFetchedOneByOne) {
  ChannelCosts costs = round_costs();
  costs.network_rendezvous = 10_us;
  costs.network_eager = Bytes(1000);
  const test::PlainPipe two(2, Bytes(1000));
  const auto end = [&] { return end_of(play({.algorithm = two, .per_host = 1, .costs = costs}), 1); };
  EXPECT_EQ(end(), TimePoint(25_us));  // as without a limit
  costs.network_eager = Bytes(999);
  // Arrived at 15 and 17 us; the receiver's proxy has handled them at 25 and 35; 6 us of flush, 2 us to store.
  EXPECT_EQ(end(), TimePoint(43_us));
}

TEST(ChunkPlayer, MessagesWithFlagsPassThroughHostMemory) {
  ChannelCosts costs = round_costs();
  costs.network_host_rate = 1_GBps;
  const test::PlainPipe two(2, Bytes(1000));
  const CollectivePlan ll{.protocol = Protocol::kLl};
  // 2000 bytes on the wire take 2 us: on it at 12 and 14 us, the second arrives at 20, is observed at 21, stored at 23.
  EXPECT_EQ(end_of(play({.algorithm = two, .plan = ll, .per_host = 1, .costs = costs}), 1), TimePoint(23_us));
  // Without flags GPUs' own memory is read.
  EXPECT_EQ(end_of(play({.algorithm = two, .per_host = 1, .costs = costs}), 1), TimePoint(25_us));
}

TEST(ChunkPlayer, WithoutGpudirectMessagesAreStoredInHostMemoryAndLoadedFromThere) {
  ChannelCosts costs = round_costs();
  costs.gpudirect = false;
  const test::PlainPipe one(1, Bytes(1000));
  // 4 us instead of 1 at either end; nothing changes inside a host.
  EXPECT_EQ(end_of(play({.algorithm = one, .per_host = 1, .costs = costs}), 1), TimePoint(23_us + 6_us));
  EXPECT_EQ(end_of(play({.algorithm = one, .costs = costs}), 1), end_of(play({.algorithm = one}), 1));
}

// Two ranks on two hosts: a ring's message is sent, observed, forwarded and observed. What a proxy sends later is
// observed later: two channels wait for each other where they begin, and nowhere else.
TEST(ChunkPlayer, ChannelsWaitForEachOtherAtTheirFirstCrossingOnly) {
  const ChannelAlgorithm* ring = collectives::find_channel_algorithm("ring");
  ASSERT_NE(ring, nullptr);
  const auto end_with = [&](int channels, Duration proxy) {
    ChannelCosts costs = round_costs();
    costs.network_proxy = proxy;
    return end_of(play({.algorithm = *ring,
                        .plan = {.algorithm = "ring", .protocol = Protocol::kLl, .channels = channels},
                        .kind = CollectiveKind::kAllReduce,
                        .bytes = Bytes(2000) * channels,
                        .per_host = 1,
                        .costs = costs}),
                  0);
  };
  EXPECT_EQ(end_with(1, 1_us) - end_with(1, 0_us), 4_us);
  EXPECT_EQ(end_with(2, 1_us) - end_with(2, 0_us), 5_us);
}

TEST(ChunkPlayer, ARingOfTwoTakesThreePrimitivesEach) {
  const ChannelAlgorithm* ring = collectives::find_channel_algorithm("ring");
  ASSERT_NE(ring, nullptr);
  const CollectivePlan plan{.algorithm = "ring", .protocol = Protocol::kLl, .channels = 1};
  const RunResult result = play({.algorithm = *ring, .plan = plan, .kind = CollectiveKind::kAllReduce,
                                 .bytes = Bytes(2000), .wire = 100_GBps});
  // Chunks of 1000 bytes (1008, a multiple of 16). Send: 5 to 7.008; visible 2 us later; add and store and send: 1 us
  // and 1008 bytes at half the rate, 3.016 us; visible 2 us later; store: 2.008 us.
  const Duration three(2'008'000 + 2'000'000 + 3'016'000 + 2'000'000 + 2'008'000);
  EXPECT_EQ(end_of(result, 0), TimePoint(5_us + three));
  EXPECT_EQ(end_of(result, 0), end_of(result, 1));
}

// 640 threads process 38,400 bytes at once: 38.4 us at the rate of a channel, before the first bytes are on the wire.
TEST(ChunkPlayer, WithLl128NoBytesLeaveBeforeTheFirstPassOfTheThreads) {
  const auto end = [](Bytes bytes, Bandwidth wire) {
    const test::PlainPipe one(1, bytes);
    return end_of(play({.algorithm = one, .plan = {.protocol = Protocol::kLl128}, .wire = wire}), 0) - TimePoint();
  };
  // Launch 5 us, primitive 1 us, the pass, and 16/15 of the bytes on a wire of 1 GB/s.
  EXPECT_EQ(end(Bytes(9'600), 1_GBps), Duration(5'000'000 + 1'000'000 + 9'600'000 + 10'240'000));
  // Everything after the first pass overlaps the wire: 102.4 us of it, longer than the other 57.6 us of the block.
  EXPECT_EQ(end(Bytes(96'000), 1_GBps), Duration(5'000'000 + 1'000'000 + 38'400'000 + 102'400'000));
  // With a wire that takes no time only the block's own time remains: 96 us.
  EXPECT_NEAR(to_seconds(end(Bytes(96'000), 100'000_GBps)) * 1e6, 5.0 + 1.0 + 96.0, 0.01);
}

TEST(ChunkPlayer, WithSimpleEveryOperandIsLoadedAndEveryDestinationStoredTo) {
  const ChannelAlgorithm* ring = collectives::find_channel_algorithm("ring");
  ASSERT_NE(ring, nullptr);
  ChannelCosts costs = round_costs();
  costs.load_share = 0.25;
  const CollectivePlan plan{.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 1};
  const RunResult result = play({.algorithm = *ring, .plan = plan, .kind = CollectiveKind::kAllReduce,
                                 .bytes = Bytes(2016), .costs = costs, .wire = 1000_GBps});
  // Chunks of 1008 bytes. Send: 2.008 us; visible 2 us later; two loads and two stores: 1 us and twice 1.008 us;
  // visible 2 us later; the last one stores once: 2.008 us.
  EXPECT_NEAR(to_seconds(end_of(result, 0) - TimePoint()) * 1e6, 5.0 + 2.008 + 2.0 + 3.016 + 2.0 + 2.008, 0.01);
}

TEST(ChunkPlayer, ALateRankDelaysTheOthersAndTheLedgerBooksWaiting) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder early(graph, "early");
  early.collective(dp, CollectiveKind::kBroadcast, Bytes(1000), 1);
  early.run_on({1});
  ProgramBuilder late(graph, "late");
  const auto work = late.compute(100_us);
  late.collective(dp, CollectiveKind::kBroadcast, Bytes(1000), 1, {work});
  late.run_on({0});
  test::place_ranks(graph, 2);
  const RankClasses classes = identity_classes(2);
  Engine engine;
  test::WireNetwork network(engine, 4_us, 1_GBps);
  const test::PlainRing steps;
  const test::AlwaysChoose unused(steps);
  const test::PlainPipe one(1, Bytes(1000));
  const test::AlwaysOnChannels chooser(one, {.protocol = Protocol::kSimple});
  const test::PlainCompute compute;
  const ChannelCosts costs = round_costs();
  const ChannelInputs channels{.chooser = chooser, .costs = costs};
  const RunResult result = execute({.engine = engine, .graph = graph, .classes = classes, .network = network,
                                    .chooser = unused, .compute = compute, .channels = &channels});
  EXPECT_EQ(end_of(result, 1), TimePoint(111_us));
  // Mask 2 is "communication of dimension 0 alone": from when the late rank has joined.
  EXPECT_EQ(result.record.time_in[1][2], 11_us);
}

// Rank 0 sends one message to rank 1, three chunks of 1000 bytes.
RunResult play_message(int per_host) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder first(graph, "first");
  first.send(pp, {.peer = 1, .bytes = Bytes(3000)}, 1);
  first.run_on({0});
  ProgramBuilder second(graph, "second");
  second.receive(pp, {.peer = 0, .bytes = Bytes(3000)});
  second.run_on({1});
  test::place_ranks(graph, per_host);
  const RankClasses classes = identity_classes(graph.rank_count());
  Engine engine;
  test::WireNetwork network(engine, 4_us, 1_GBps);
  const test::PlainRing steps;
  const test::AlwaysChoose unused(steps);
  const test::PlainPipe three(3, Bytes(1000));
  const test::AlwaysOnChannels chooser(three, {.protocol = Protocol::kSimple});
  const test::PlainCompute compute;
  const ChannelCosts costs = round_costs();
  const ChannelInputs channels{.chooser = chooser, .costs = costs};
  return execute({.engine = engine, .graph = graph, .classes = classes, .network = network, .chooser = unused,
                  .compute = compute, .channels = &channels});
}

// As three messages of a collective: launched at 5 us, sent by 7, 9, 11 us.
TEST(ChunkPlayer, MessagesOfAStepAreMovedAsCollectivesAre) {
  const RunResult inside = play_message(2);
  EXPECT_EQ(inside.outcome, RunOutcome::kFinished);
  EXPECT_EQ(end_of(inside, 0), TimePoint(11_us));
  EXPECT_EQ(end_of(inside, 1), TimePoint(15_us));
  EXPECT_EQ(inside.record.messages, 3U);
  EXPECT_EQ(inside.record.sent[0][0], Bytes(3000));
  // The third is in the buffer at 11 us, on the NIC at 14, arrived at 19, flushed at 25, stored at 27.
  const RunResult between = play_message(1);
  EXPECT_EQ(end_of(between, 0), TimePoint(11_us));
  EXPECT_EQ(end_of(between, 1), TimePoint(27_us));
}

Case network_sum(int hosts) {
  return {.algorithm = *collectives::find_channel_algorithm("collnet_chain"),
          .plan = {.protocol = Protocol::kSimple, .chunk = Bytes(1008)},
          .kind = CollectiveKind::kAllReduce,
          .bytes = Bytes(1008),
          .ranks = hosts,
          .per_host = 1};
}

// Launched at 5 us; 1 us of the primitive and 1.008 us at 384 of 640 threads, 3 us to the NIC, 4 us of latency and
// 1.008 us on the wire; 6 us to the GPU, 1 us and 1.008 us at 256 of 640 threads to store it, for any number of hosts.
TEST(ChunkPlayer, TheNetworkReducesInOnePass) {
  const Duration sending(1'680'000);
  const Duration wire(1'008'000);
  const Duration storing(2'520'000);
  for (const int hosts : {2, 3, 7}) {
    const RunResult result = play(network_sum(hosts));
    const TimePoint all(5_us + 1_us + sending + 3_us + 4_us + wire + 6_us + 1_us + storing);
    for (int host = 0; host < hosts; ++host) EXPECT_EQ(end_of(result, static_cast<std::size_t>(host)), all);
    EXPECT_EQ(result.record.messages, static_cast<std::uint64_t>(hosts));
  }
}

TEST(ChunkPlayer, TheSwitchsOwnLatencyComesBetween) {
  Case slow = network_sum(3);
  slow.costs.network_sum = 2_us;
  EXPECT_EQ(end_of(play(slow), 1) - end_of(play(network_sum(3)), 1), 2_us);
}

// Eight channels go to the network as one operation of the proxy, at both ends; a ninth makes two.
TEST(ChunkPlayer, TheProxyHandsEightChannelsToTheNetworkAtOnce) {
  const auto end_with = [](int channels, Duration proxy) {
    Case c = network_sum(2);
    c.plan.channels = channels;
    c.bytes = Bytes(1008) * channels;
    c.costs.network_proxy = proxy;
    c.costs.network_eager = Bytes(1 << 20);
    return end_of(play(c), 0);
  };
  EXPECT_EQ(end_with(8, 1_us) - end_with(8, 0_us), 2_us);
  // Both are ready at once when they are sent, and arrive one after the other.
  EXPECT_EQ(end_with(9, 1_us) - end_with(9, 0_us), 3_us);
}

// A switch that adds more slowly than the wires deliver delays all but the first message of a long call: 20 of 1008
// bytes at a fifth of the wire's rate.
TEST(ChunkPlayer, ASwitchThatAddsSlowlySetsThePace) {
  Case fast = network_sum(2);
  fast.bytes = Bytes(20 * 1008);
  Case slow = fast;
  slow.costs.network_sum_rate = Bandwidth(0.02e9);
  EXPECT_GT(end_of(play(slow), 0), TimePoint(Duration(20 * 50'400'000)));  // 50.4 us each
  EXPECT_LT(end_of(play(fast), 0), TimePoint(Duration(20 * 50'400'000) / 2));
}

// Each of two GPUs is signalled at 5 + 2 us, loads 1000 bytes and adds them (1 us for the primitive, 2 us for two
// operands), with the load and the store on the wire at the same time; signals the other, which observes it 2 us later.
TEST(ChunkPlayer, OneSidedWorkMovesItsBytesAndSignals) {
  auto plan = collectives::parse_execution_plan(collectives::read_all_plan(2), "p.json");
  ASSERT_TRUE(plan.has_value());
  const collectives::PlanAlgorithm algorithm(std::move(*plan));
  const RunResult result = play({.algorithm = algorithm,
                                 .plan = {.protocol = Protocol::kSimple},
                                 .kind = CollectiveKind::kAllReduce,
                                 .bytes = Bytes(2000)});
  EXPECT_EQ(end_of(result, 0), TimePoint(5_us + 2_us + 1_us + 2_us + 2_us));
  EXPECT_EQ(end_of(result, 0), end_of(result, 1));
  EXPECT_EQ(result.record.sent[0][0], Bytes(2000));  // one store, and one load that it began
}

}  // namespace
}  // namespace ringwright::chunk_player_test
