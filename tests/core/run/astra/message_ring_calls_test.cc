// Random jobs whose ranks do not call in step: rings computed at once against every message as events, to the tick.
#include "core/run/astra/message_ring_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collectives/astra/phases.h"
#include "core/base/random.h"
#include "network_models/astra/networks.h"

namespace ringwright::message_ring_calls_test {
namespace {

using collectives::AstraAlgorithmKind;
using network_models::AstraBlock;

constexpr std::uint32_t kRanks = 12;

// What makes cases differ: times that are multiples of a quantum coincide often, those of 1 hardly ever.
struct Traffic {
  AstraBlock block = AstraBlock::kSwitch;
  Tick quantum = 1;        // of computations
  Tick longest = 400'000;  // computation
  double bytes_per_ns = 50.0 * (1 << 30) / 1e9;
  double latency_ns = 500.0;
  std::vector<std::int64_t> sizes;  // of messages between nodes, and of collectives
  std::uint32_t operations = 60;    // of the whole job
  bool with_world = false;          // collectives of all ranks
};

// Operations in one order for the whole job, which every rank keeps: nobody waits for ever.
class RandomJob {
 public:
  RandomJob(const Traffic& traffic, std::uint64_t seed) : traffic_(traffic), random_(seed, "ring calls") {
    job_.groups = {{.name = "0"}};
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      job_.graph_of.push_back(rank);
      job_.graphs.emplace_back();
    }
    parents_.resize(kRanks);
    last_.resize(kRanks);
    rules_.streams.local_bytes_per_ns = 1600.0;
    rules_.streams.endpoint_delay = static_cast<Tick>(below(3) * 10);
    for (int i = 0; i < 5; ++i) add_group();
    if (traffic_.with_world) add_calls(0);
    while (traffic_.operations-- > 0) add_operation();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) link_children(rank);
  }

  [[nodiscard]] JobOutcome run(Shortcuts rings) {
    rules_.rings = rings;
    const network_models::AstraTopology topology{
        .dimensions = {{.block = traffic_.block,
                        .nodes = kRanks,
                        .gigabytes_per_second = traffic_.bytes_per_ns * 1e9 / (1 << 30),
                        .latency_ns = traffic_.latency_ns}}};
    return run_node_job(job_, rules_, *network_models::make_astra_aware(topology));
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Last {
    std::uint32_t communication = kNone;
    std::uint32_t computation = kNone;
    std::uint32_t receive = kNone;
  };

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_.next_below(bound)); }
  std::int64_t size() { return traffic_.sizes[below(static_cast<std::uint32_t>(traffic_.sizes.size()))]; }

  // Anywhere, or ranks that follow each other in either direction, some of them with two out of order.
  std::vector<std::uint32_t> random_ranks() {
    std::vector<std::uint32_t> ranks(kRanks);
    const bool are_neighbours = traffic_.block != AstraBlock::kSwitch && below(3) > 0;
    const std::uint32_t first = are_neighbours ? below(kRanks) : 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ranks[rank] = (first + rank) % kRanks;
      if (!are_neighbours) std::swap(ranks[rank], ranks[below(rank + 1)]);
    }
    ranks.resize(2 + below(are_neighbours ? kRanks - 1 : 6));
    if (are_neighbours && below(2) == 0) std::ranges::reverse(ranks);
    if (are_neighbours && below(4) == 0)
      std::swap(ranks.back(), ranks[below(static_cast<std::uint32_t>(ranks.size()))]);
    return ranks;
  }

  void add_group() {
    const std::vector<std::uint32_t> ranks = random_ranks();
    std::vector<std::uint32_t> order(ranks.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return ranks[i]; });
    job_.groups.push_back({.name = "g", .members = ranks, .order = order});
    add_calls(static_cast<std::uint32_t>(job_.groups.size() - 1));
  }
  void add_calls(std::uint32_t group) {
    const std::uint32_t ranks = job_.groups[group].size(kRanks);
    const CollectiveKind kinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllGather, CollectiveKind::kAllToAll};
    for (const CollectiveKind kind : kinds) {
      collectives::AstraCall call{.kind = kind,
                                  .bytes = size(),
                                  .dimensions = {ranks},
                                  .involved = {true},
                                  .splits = 1 + below(4),
                                  .job_ranks = kRanks,
                                  .in_group = below(2) == 0};
      if (group == 0) call.in_group = false;
      call.algorithms.push_back({.kind = below(8) == 0 ? AstraAlgorithmKind::kDirect : AstraAlgorithmKind::kRing});
      job_.plans.push_back(*astra_collective(call));
      job_.calls.push_back(
          {.plan = static_cast<std::uint32_t>(job_.plans.size() - 1), .group = group, .name = "a collective"});
    }
  }

  std::uint32_t add(std::uint32_t rank, GraphNode node, std::vector<std::uint32_t> parents) {
    NodeGraph& graph = job_.graphs[rank];
    node.id = graph.nodes.size();
    graph.nodes.push_back(node);
    std::erase(parents, kNone);
    parents_[rank].push_back(std::move(parents));
    return static_cast<std::uint32_t>(node.id);
  }
  void communicate(std::uint32_t rank, const GraphNode& node) {
    Last& last = last_[rank];
    last.communication = add(
        rank, node, {last.communication, below(3) > 0 ? last.computation : kNone, below(2) > 0 ? last.receive : kNone});
  }
  void compute(std::uint32_t rank) {
    Last& last = last_[rank];
    const Tick duration = std::max<Tick>(1, static_cast<Tick>(below(static_cast<std::uint32_t>(traffic_.longest))) /
                                                traffic_.quantum * traffic_.quantum);
    last.computation = add(
        rank, {.work = NodeWork::kLasting, .slot = NodeSlot::kGpu, .counts_as_gpu_time = true, .duration = duration},
        {below(3) > 0 ? last.communication : kNone, below(3) == 0 ? last.receive : kNone});
  }
  void add_operation() {
    const std::uint32_t rank = below(kRanks);
    switch (below(4)) {
      case 0: compute(rank); break;
      case 1: send(rank, (rank + 1 + below(kRanks - 1)) % kRanks); break;
      default: call(below(static_cast<std::uint32_t>(job_.calls.size()))); break;
    }
  }
  void send(std::uint32_t from, std::uint32_t to) {
    const std::int64_t bytes = size();
    const std::uint32_t tag = traffic_.operations;  // no receive takes the message of another one
    communicate(from, {.work = NodeWork::kSend, .peer = to, .tag = tag, .bytes = bytes});
    Last& last = last_[to];
    last.receive =
        add(to, {.work = NodeWork::kReceive, .slot = NodeSlot::kReceiver, .peer = from, .tag = tag, .bytes = bytes},
            {below(2) > 0 ? last.communication : kNone});
  }
  void call(std::uint32_t call) {
    const RankGroup& group = job_.groups[job_.calls[call].group];
    for (std::uint32_t position = 0; position < group.size(kRanks); ++position) {
      const std::uint32_t rank = group.members.empty() ? position : group.members[position];
      if (below(3) > 0) compute(rank);
      communicate(rank, {.work = NodeWork::kCollective, .call = call});
    }
  }
  void link_children(std::uint32_t rank) {
    NodeGraph& graph = job_.graphs[rank];
    std::vector<std::vector<std::uint32_t>> children(graph.nodes.size());
    for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
      graph.dependencies.push_back(static_cast<std::uint32_t>(parents_[rank][node].size()));
      for (const std::uint32_t parent : parents_[rank][node]) children[parent].push_back(node);
    }
    graph.first_child = {0};
    for (const std::vector<std::uint32_t>& of_node : children) {
      graph.children.insert(graph.children.end(), of_node.begin(), of_node.end());
      graph.first_child.push_back(static_cast<std::uint32_t>(graph.children.size()));
    }
  }

  Traffic traffic_;
  RandomStream random_;
  NodeJob job_;
  JobRules rules_;
  std::vector<std::vector<std::vector<std::uint32_t>>> parents_;  // by rank and node
  std::vector<Last> last_;
};

std::string text(const JobOutcome& outcome) {
  std::string all;
  for (const RankOutcome& rank : outcome.ranks) all += fmt::format("rank {}\n", rank.finish.value_or(-1));
  for (const CallOutcome& call : outcome.calls) {
    all += fmt::format("call {}: {} of {}, {}\n", call.call, call.total, call.executions, call.longest);
  }
  for (const MessageLinkUsage& link : outcome.links) {
    all += fmt::format("{}: {} bytes, {}\n", link.name, link.bytes, link.busy);
  }
  return all;
}

// Returns how many collectives were computed as rings.
std::uint64_t compare(const Traffic& traffic, std::uint64_t cases, std::uint64_t first_seed = 0) {
  std::uint64_t rings = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomJob job(traffic, seed);
    const JobOutcome by_events = job.run(Shortcuts::kNo);
    const JobOutcome at_once = job.run(Shortcuts::kYes);
    EXPECT_TRUE(by_events.stuck.empty()) << by_events.stuck.front().reason;
    EXPECT_EQ(text(at_once), text(by_events)) << "seed " << seed << " on block " << static_cast<int>(traffic.block);
    EXPECT_LE(at_once.events, by_events.events + by_events.events / 2);
    rings += at_once.shortcuts;
    if (testing::Test::HasFailure()) break;
  }
  return rings;
}

constexpr std::int64_t kKiB = 1024;

constexpr AstraBlock kBlocks[] = {AstraBlock::kSwitch, AstraBlock::kRing, AstraBlock::kFullyConnected};

TEST(AstraRings, AtAnyTimesEqualTheirMessages) {
  for (const AstraBlock block : kBlocks) {
    EXPECT_GT(compare({.block = block, .sizes = {64, 20'000, 300 * kKiB, 2048 * kKiB}}, 400), 400U);
  }
}

TEST(AstraRings, OfAllRanksEqualTheirMessages) {
  for (const AstraBlock block : kBlocks) {
    const Traffic traffic{
        .block = block, .sizes = {64, 20'000, 300 * kKiB, 2048 * kKiB}, .operations = 30, .with_world = true};
    EXPECT_GT(compare(traffic, 200), 200U);
  }
}

TEST(AstraRings, OfShortMessagesEqualThem) {
  for (const AstraBlock block : kBlocks) {
    EXPECT_GT(compare({.block = block, .sizes = {1, 40, 64, 2000, 300 * kKiB}}, 200), 200U);
  }
}

// A member enters a ring while messages of its collective before wait for its link, and leaves the ring before they
// left.
TEST(AstraRings, BehindWaitingMessagesEqualTheirMessages) {
  EXPECT_GT(compare({.sizes = {64 * kKiB}}, 1, 106504), 0U);
  EXPECT_GT(compare({.quantum = 1000, .sizes = {64 * kKiB}}, 1, 107189), 0U);
}

// Many events share a tick.
TEST(AstraRings, AtCoarseTimesEqualTheirMessages) {
  for (const AstraBlock block : kBlocks) {
    for (const Tick quantum : {10, 510, 1000, 20'000}) {
      EXPECT_GT(compare({.block = block, .quantum = quantum, .sizes = {512, 64 * kKiB, 300 * kKiB}}, 120), 50U);
    }
  }
}

// Nearly all times are multiples of 10: messages reach a link at one tick, by events that were scheduled at different
// ticks or at the same one.
TEST(AstraRings, AmongCoincidencesEqualTheirMessages) {
  for (const AstraBlock block : kBlocks) {
    Traffic traffic{.block = block, .quantum = 10, .longest = 4000, .bytes_per_ns = 1.0, .latency_ns = 100.0};
    traffic.sizes = {480, 4800};
    EXPECT_GT(compare(traffic, 400), 400U);
  }
}

// A member sends and something passes its link at one tick, at which the rank also ends a computation that it began
// before the other message was sent on: that computation's event sends for both.
TEST(AstraRings, WhoseMembersComputeMeanwhileEqualTheirMessages) {
  Traffic traffic{.block = AstraBlock::kRing, .quantum = 10, .longest = 1500, .bytes_per_ns = 1.0, .latency_ns = 100.0};
  traffic.sizes = {480};
  EXPECT_GT(compare(traffic, 1, 5444), 0U);
}

// After a ring, the order of two messages that reach a link at one tick, and were sent on at one tick, is open.
TEST(AstraRings, LeaveOrdersOpen) {
  static_cast<void>(compare({.sizes = {64, 20'000, 300 * kKiB, 2048 * kKiB}}, 1, 709));
}

}  // namespace
}  // namespace ringwright::message_ring_calls_test
