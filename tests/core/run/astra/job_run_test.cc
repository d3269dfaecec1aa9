// Jobs by ASTRA-sim's rules against closed forms: t(m) is a message's time, d the endpoint's delay of a packet, p(m) =
// 3 * floor(m / local bandwidth) the reduction of a packet.
#include "core/run/astra/job_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/astra/phases.h"
#include "network_models/astra/networks.h"

namespace ringwright::job_run_test {
namespace {

using collectives::AstraAlgorithm;
using collectives::AstraAlgorithmKind;
using network_models::AstraBlock;
using network_models::AstraDimension;
using network_models::AstraTopology;

constexpr std::int64_t kMiB = 1 << 20;
constexpr double kBytesPerNs = 50.0 * 1073741824.0 / 1e9;  // 50 GB/s as ASTRA-sim counts them
constexpr Tick kDelay = 10;

AstraDimension dimension(AstraBlock block, std::uint32_t nodes) {
  return {.block = block, .nodes = nodes, .gigabytes_per_second = 50.0, .latency_ns = 500.0};
}
Tick t(std::int64_t bytes, int hops = 1) {
  return static_cast<Tick>(500.0 * hops + static_cast<double>(bytes) / kBytesPerNs);
}
Tick p(std::int64_t bytes) {
  return 3 * (bytes / 1600);
}

// A job, built node by node; ids are indices.
class Job {
 public:
  explicit Job(AstraTopology topology) : topology_(std::move(topology)) {
    job_.groups = {{.name = "0"}};
    for (std::uint32_t rank = 0; rank < topology_.ranks(); ++rank) {
      job_.graph_of.push_back(rank);
      job_.graphs.emplace_back();
    }
    rules_.streams.local_bytes_per_ns = 1600.0;
    rules_.streams.queues.dimensions = static_cast<std::uint32_t>(topology_.dimensions.size());
  }

  std::uint32_t group(std::vector<std::uint32_t> members) {
    job_.groups.push_back({.name = "g", .members = members, .order = {}});
    std::vector<std::uint32_t>& order = job_.groups.back().order;
    for (std::uint32_t i = 0; i < members.size(); ++i) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return members[i]; });
    return static_cast<std::uint32_t>(job_.groups.size() - 1);
  }

  std::uint32_t call(CollectiveKind kind, std::int64_t bytes, std::vector<AstraAlgorithmKind> algorithms,
                     std::int64_t splits = 4, std::uint32_t group = 0) {
    collectives::AstraCall call{.kind = kind, .bytes = bytes, .dimensions = topology_.nodes(), .splits = splits};
    call.job_ranks = topology_.ranks();
    call.in_group = group > 0;
    if (group > 0) call.dimensions = {static_cast<std::uint32_t>(job_.groups[group].members.size())};
    call.involved.assign(call.dimensions.size(), true);
    for (const AstraAlgorithmKind algorithm : algorithms) call.algorithms.push_back({.kind = algorithm});
    auto made = astra_collective(call);
    EXPECT_TRUE(made.has_value());
    return add_plan(*made, group);
  }
  std::uint32_t add_plan(ChunkedCollective plan, std::uint32_t group = 0) {
    job_.plans.push_back(std::move(plan));
    job_.calls.push_back(
        {.plan = static_cast<std::uint32_t>(job_.plans.size() - 1), .group = group, .name = "a collective"});
    return static_cast<std::uint32_t>(job_.calls.size() - 1);
  }

  // Depends on the node before, if there is one.
  Job& then(std::uint32_t rank, GraphNode node) {
    NodeGraph& graph = job_.graphs[rank];
    node.id = graph.nodes.size();
    graph.nodes.push_back(node);
    return *this;
  }
  Job& computes(std::uint32_t rank, Tick duration) {
    return then(rank,
                {.work = NodeWork::kLasting, .slot = NodeSlot::kGpu, .counts_as_gpu_time = true, .duration = duration});
  }
  Job& calls(std::uint32_t rank, std::uint32_t call) {
    return then(rank, {.work = NodeWork::kCollective, .slot = NodeSlot::kCommunication, .call = call});
  }
  Job& all_call(std::uint32_t call) {
    for (std::uint32_t rank = 0; rank < topology_.ranks(); ++rank) calls(rank, call);
    return *this;
  }
  Job& sends(std::uint32_t rank, std::uint32_t to, std::int64_t bytes) {
    return then(rank,
                {.work = NodeWork::kSend, .slot = NodeSlot::kCommunication, .peer = to, .tag = 5, .bytes = bytes});
  }
  Job& receives(std::uint32_t rank, std::uint32_t from, std::int64_t bytes) {
    return then(rank,
                {.work = NodeWork::kReceive, .slot = NodeSlot::kReceiver, .peer = from, .tag = 5, .bytes = bytes});
  }
  Job& moves(std::uint32_t rank, std::int64_t bytes) {
    return then(rank, {.work = NodeWork::kMemory, .slot = NodeSlot::kCommunication, .bytes = bytes});
  }

  [[nodiscard]] JobRules& rules() { return rules_; }
  [[nodiscard]] NodeJob& job() { return job_; }

  [[nodiscard]] JobOutcome run(bool aware = false) {
    for (NodeGraph& graph : job_.graphs) {
      const auto count = static_cast<std::uint32_t>(graph.nodes.size());
      graph.dependencies.assign(count, 1);
      if (count > 0) graph.dependencies.front() = 0;
      graph.first_child = {0};
      graph.children.clear();
      for (std::uint32_t i = 1; i < count; ++i) graph.children.push_back(i);
      for (std::uint32_t i = 0; i < count; ++i) graph.first_child.push_back(std::min(i + 1, count - 1));
    }
    const auto networks =
        aware ? network_models::make_astra_aware(topology_) : network_models::make_astra_unaware(topology_);
    return run_node_job(job_, rules_, *networks);
  }
  // When all ranks finish, which they do at the same time.
  [[nodiscard]] Tick time(bool aware = false) {
    const JobOutcome outcome = run(aware);
    for (const RankOutcome& rank : outcome.ranks) EXPECT_EQ(rank.finish, outcome.ranks.front().finish);
    return outcome.ranks.front().finish.value_or(-1);
  }

 private:
  AstraTopology topology_;
  NodeJob job_;
  JobRules rules_;
};

Job on(AstraBlock block, std::uint32_t nodes) {
  return Job({.dimensions = {dimension(block, nodes)}});
}

Tick collective(AstraBlock block, CollectiveKind kind, AstraAlgorithmKind algorithm, bool aware = false) {
  Job job = on(block, 8);
  return job.all_call(job.call(kind, kMiB, {algorithm})).time(aware);
}

constexpr std::int64_t kChunk = kMiB / 4;
constexpr std::int64_t kShard = kChunk / 8;

TEST(AstraJob, RingAllReduceTakesTwoRoundsPerChunk) {
  const Tick chunk = kDelay + 14 * (t(kShard) + kDelay) + 7 * p(kShard);
  EXPECT_EQ(collective(AstraBlock::kRing, CollectiveKind::kAllReduce, AstraAlgorithmKind::kRing), 4 * chunk);
  EXPECT_EQ(collective(AstraBlock::kRing, CollectiveKind::kAllReduce, AstraAlgorithmKind::kRing, true), 4 * chunk);
}

TEST(AstraJob, OtherRingsTakeOneRound) {
  EXPECT_EQ(collective(AstraBlock::kRing, CollectiveKind::kReduceScatter, AstraAlgorithmKind::kRing),
            4 * (kDelay + 7 * (t(kShard) + kDelay + p(kShard))));
  EXPECT_EQ(collective(AstraBlock::kRing, CollectiveKind::kAllGather, AstraAlgorithmKind::kRing),
            4 * (kDelay + 7 * (t(kChunk) + kDelay)));
  EXPECT_EQ(collective(AstraBlock::kRing, CollectiveKind::kAllToAll, AstraAlgorithmKind::kRing),
            4 * (kDelay + 28 * (t(kShard) + kDelay)));
}

TEST(AstraJob, DirectSendsEverythingAtOnce) {
  EXPECT_EQ(collective(AstraBlock::kFullyConnected, CollectiveKind::kAllToAll, AstraAlgorithmKind::kDirect),
            4 * (2 * kDelay + t(kShard)));
  EXPECT_EQ(collective(AstraBlock::kSwitch, CollectiveKind::kAllReduce, AstraAlgorithmKind::kDirect),
            4 * (3 * kDelay + 2 * t(kShard, 2) + p(kShard)));
}

// Seven messages leave one after another, and cross the switch's link to their receiver in the same rhythm.
TEST(AstraJob, DirectQueuesOnTheSendersLink) {
  const auto occupied = static_cast<Tick>(static_cast<double>(kShard) / kBytesPerNs);
  EXPECT_EQ(collective(AstraBlock::kSwitch, CollectiveKind::kAllToAll, AstraAlgorithmKind::kDirect, true),
            4 * (2 * kDelay + 6 * occupied + 2 * t(kShard)));
}

TEST(AstraJob, HalvingDoublingReducesOnePacketLessThanItReceives) {
  Tick chunk = kDelay;
  for (const std::int64_t bytes : {kChunk / 2, kChunk / 4, kChunk / 8}) chunk += 2 * (t(bytes, 2) + kDelay);
  chunk += p(kChunk / 4) + p(kChunk / 8);
  EXPECT_EQ(collective(AstraBlock::kSwitch, CollectiveKind::kAllReduce, AstraAlgorithmKind::kHalvingDoubling),
            4 * chunk);
}

// As measured with ASTRA-sim (its results are in docs/astra-sim.md).
TEST(AstraJob, DoubleBinaryTreeTakesASTRASimsTime) {
  for (const auto& [aware, time] : {std::pair(false, 133552), std::pair(true, 299510)}) {
    Job job = on(AstraBlock::kSwitch, 8);
    job.all_call(job.call(CollectiveKind::kAllReduce, kMiB, {AstraAlgorithmKind::kDoubleBinaryTree}));
    Tick last = 0;
    for (const RankOutcome& rank : job.run(aware).ranks) last = std::max(last, rank.finish.value_or(-1));
    EXPECT_EQ(last, time);
  }
}

TEST(AstraJob, DimensionsAreReducedUpwardAndGatheredDownward) {
  Job job({.dimensions = {dimension(AstraBlock::kRing, 4), dimension(AstraBlock::kSwitch, 2)}});
  const std::vector algorithms = {AstraAlgorithmKind::kRing, AstraAlgorithmKind::kHalvingDoubling};
  job.all_call(job.call(CollectiveKind::kAllReduce, kMiB, algorithms, 1));
  const std::int64_t quarter = kMiB / 4;
  const Tick scatter = kDelay + 3 * (t(quarter) + kDelay + p(quarter));
  const Tick reduce = kDelay + 2 * (t(quarter / 2, 2) + kDelay);
  const Tick gather = kDelay + 3 * (t(quarter) + kDelay);
  EXPECT_EQ(job.time(), scatter + reduce + gather);
}

TEST(AstraJob, GroupsFollowTheirOwnOrderAndPayTheFixedDelay) {
  Job job = on(AstraBlock::kRing, 8);
  job.rules().streams.endpoint_delay = 1000;
  // Neighbours in the list are two links apart, also the last and the first one.
  const std::uint32_t even = job.group({0, 2, 4, 6});
  const std::uint32_t call = job.call(CollectiveKind::kAllGather, kMiB, {AstraAlgorithmKind::kRing}, 1, even);
  for (const std::uint32_t rank : {0U, 2U, 4U, 6U}) job.calls(rank, call);
  EXPECT_EQ(job.run().ranks[2].finish, kDelay + 3 * (t(kMiB, 2) + kDelay));
}

TEST(AstraJob, ASendEndsWhenItArrivesAndALateReceiveAtOnce) {
  Job job = on(AstraBlock::kRing, 4);
  job.sends(0, 2, kMiB).computes(2, 100'000).receives(2, 0, kMiB).computes(2, 1);
  const JobOutcome outcome = job.run();
  EXPECT_EQ(outcome.ranks[0].finish, t(kMiB, 2));
  EXPECT_EQ(outcome.ranks[2].finish, 100'001);
  EXPECT_EQ(outcome.ranks[2].exposed(), 0);
}

TEST(AstraJob, CongestionStoresAndForwardsWholeMessages) {
  Job job = on(AstraBlock::kRing, 4);
  EXPECT_EQ(job.sends(0, 2, kMiB).receives(2, 0, kMiB).run(true).ranks[2].finish, 2 * t(kMiB));
}

TEST(AstraJob, ThePoolServesOneRankAfterAnother) {
  Job job = on(AstraBlock::kRing, 4);
  job.rules().memory = {.sharing = RemoteMemorySharing::kPool, .latency = 2000, .bytes_per_ns = 100.0};
  for (std::uint32_t rank = 0; rank < 4; ++rank) job.moves(rank, kMiB);
  const Tick service = 2000 + kMiB / 100;
  const JobOutcome outcome = job.run();
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(outcome.ranks[rank].finish, (rank + 1) * service);
}

TEST(AstraJob, AGraphOfAPositionRunsAsItsDependenciesAllow) {
  Job job = on(AstraBlock::kRing, 4);
  std::vector<NodeGraph> graphs;
  for (std::uint32_t position = 0; position < 4; ++position) {
    NodeGraph graph;
    graph.nodes = {{.id = 0, .work = NodeWork::kSend, .peer = (position + 1) % 4, .bytes = kMiB},
                   {.id = 1, .work = NodeWork::kReceive, .peer = (position + 3) % 4, .bytes = kMiB},
                   {.id = 2, .work = NodeWork::kLasting, .duration = 7000}};
    graph.dependencies = {0, 1, 1};
    graph.first_child = {0, 1, 2, 2};
    graph.children = {1, 2};
    graphs.push_back(graph);
  }
  job.job().graph_sets.push_back(graphs);
  ChunkedCollective plan{.chunks = 2};
  plan.phases.push_back({.shape = PhaseShape::kGraphs, .nodes = 4});
  EXPECT_EQ(job.all_call(job.add_plan(plan)).time(), 2 * (t(kMiB) + 7000));
}

TEST(AstraJob, ShortcutsChangeNoTime) {
  for (const bool aware : {false, true}) {
    for (const auto kind : {AstraAlgorithmKind::kRing, AstraAlgorithmKind::kDirect,
                            AstraAlgorithmKind::kHalvingDoubling, AstraAlgorithmKind::kDoubleBinaryTree}) {
      Job job = on(AstraBlock::kSwitch, 8);
      const std::uint32_t call = job.call(CollectiveKind::kAllReduce, kMiB, {kind});
      job.all_call(call);
      for (std::uint32_t rank = 0; rank < 8; ++rank) job.computes(rank, 1 + 977 * (rank * 5 % 8));
      job.all_call(call);
      const JobOutcome with = job.run(aware);
      job.rules().shortcuts = Shortcuts::kNo;
      const JobOutcome without = job.run(aware);
      for (std::uint32_t rank = 0; rank < 8; ++rank) EXPECT_EQ(with.ranks[rank].finish, without.ranks[rank].finish);
    }
  }
}

TEST(AstraJob, RingsOfManyRanksAreSimulatedOnce) {
  Job job = on(AstraBlock::kRing, 4096);
  job.all_call(job.call(CollectiveKind::kAllReduce, 1 << 30, {AstraAlgorithmKind::kRing}));
  const JobOutcome outcome = job.run(true);
  EXPECT_EQ(outcome.shortcuts, 1U);
  EXPECT_LT(outcome.events, 1'000'000U);  // 134 million messages
}

TEST(AstraJob, AReceiveWithoutSendIsNamed) {
  Job job = on(AstraBlock::kRing, 4);
  const JobOutcome outcome = job.receives(1, 3, 64).run();
  ASSERT_EQ(outcome.stuck.size(), 1U);
  EXPECT_FALSE(outcome.ranks[1].finish.has_value());
  EXPECT_EQ(outcome.stuck[0].rank, 1U);
  EXPECT_EQ(outcome.stuck[0].reason, "receives 64 bytes with tag 5 from rank 3, which sends no such message");
}

TEST(AstraJob, AMemberThatDoesNotCallIsNamed) {
  for (const bool aware : {false, true}) {
    Job job = on(AstraBlock::kRing, 4);
    const std::uint32_t call = job.call(CollectiveKind::kAllReduce, kMiB, {AstraAlgorithmKind::kRing});
    const JobOutcome outcome = job.calls(0, call).calls(1, call).calls(3, call).run(aware);
    ASSERT_EQ(outcome.stuck.size(), 3U);
    EXPECT_EQ(outcome.stuck[0].reason, "a collective on group 0 waits for rank 2, which does not call it");
  }
}

TEST(AstraJob, MembersThatCallDifferentCollectivesAreNamed) {
  Job job = on(AstraBlock::kRing, 4);
  const std::uint32_t one = job.call(CollectiveKind::kAllReduce, kMiB, {AstraAlgorithmKind::kRing});
  const std::uint32_t other = job.call(CollectiveKind::kAllGather, kMiB, {AstraAlgorithmKind::kRing});
  const JobOutcome outcome = job.calls(0, one).calls(1, other).run();
  ASSERT_TRUE(outcome.mismatch.has_value());
  EXPECT_EQ(outcome.mismatch->rank, 1U);
}

TEST(AstraJob, ANodeThatIsPassedOverDoesNotStopTheRank) {
  Job job = on(AstraBlock::kRing, 4);
  job.then(0, {.work = NodeWork::kSkipped}).computes(0, 10);
  EXPECT_EQ(job.run().ranks[0].finish, 10);
}

}  // namespace
}  // namespace ringwright::job_run_test
