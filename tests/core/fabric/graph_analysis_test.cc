#include "core/fabric/graph_analysis.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::graph_analysis_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Hosts of two GPUs behind a NIC each, hosts 0 and 1 on switch 0, hosts 2 and 3 on switch 1, `trunks` links between.
struct TwoSwitches {
  Fabric fabric;
  NodeId switches[2];
};

TwoSwitches two_switches(int trunks) {
  TwoSwitches result;
  Fabric& fabric = result.fabric;
  for (NodeId& s : result.switches) s = fabric.add_node({.kind = NodeKind::kSwitch});
  for (int host = 0; host < 4; ++host) {
    const NodeId nic = fabric.add_node({.kind = NodeKind::kNic, .first = host, .second = 0});
    for (int gpu = 0; gpu < 2; ++gpu) {
      const NodeId node = fabric.add_node({.kind = NodeKind::kGpu, .first = host, .second = gpu});
      fabric.add_gpu(node);
      fabric.add_duplex({.from = node, .to = nic, .bandwidth = 64_GBps, .latency = 200_ns});
    }
    fabric.add_duplex({.from = nic, .to = result.switches[host / 2], .bandwidth = 50_GBps, .latency = 600_ns});
  }
  for (int i = 0; i < trunks; ++i) {
    fabric.add_duplex({.from = result.switches[0], .to = result.switches[1], .bandwidth = 50_GBps, .latency = 300_ns});
  }
  return result;
}

TEST(GraphAnalysis, CountsNodesAndLinksByKind) {
  const Fabric fabric = two_switches(2).fabric;
  const auto nodes = count_nodes(fabric);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].kind, NodeKind::kGpu);
  EXPECT_EQ(nodes[0].count, 8U);
  EXPECT_EQ(nodes[1].count, 4U);  // NICs
  EXPECT_EQ(nodes[2].count, 2U);  // switches
  const auto links = count_links(fabric);
  const auto trunk = std::find_if(links.begin(), links.end(), [](const LinkCount& count) {
    return count.from == NodeKind::kSwitch && count.to == NodeKind::kSwitch;
  });
  ASSERT_NE(trunk, links.end());
  EXPECT_EQ(trunk->count, 4U);  // two cables, two directions
  EXPECT_EQ(trunk->each, 50_GBps);
}

TEST(GraphAnalysis, FindsThatAllGpusReachEachOther) {
  EXPECT_EQ(check_connectivity(two_switches(1).fabric).unreachable_pairs, 0U);
}

TEST(GraphAnalysis, NamesPairsThatCannotReachEachOther) {
  const TwoSwitches apart = two_switches(0);
  const Connectivity result = check_connectivity(apart.fabric, 3);
  EXPECT_EQ(result.unreachable_pairs, 32U);  // 4 * 4 pairs, both orders
  ASSERT_EQ(result.examples.size(), 3U);
  EXPECT_EQ(apart.fabric.name(result.examples[0].first), "host0/gpu0");
  EXPECT_EQ(apart.fabric.name(result.examples[0].second), "host2/gpu0");
}

TEST(GraphAnalysis, CountsPairsConnectedInOneDirectionOnly) {
  TwoSwitches one_way = two_switches(0);
  one_way.fabric.add_link(
      {.from = one_way.switches[0], .to = one_way.switches[1], .bandwidth = 50_GBps, .latency = 1_us});
  EXPECT_EQ(check_connectivity(one_way.fabric).unreachable_pairs, 16U);
}

TEST(GraphAnalysis, FindsTheBisectionInTheTrunkOrInTheNics) {
  EXPECT_EQ(bisection_bandwidth(two_switches(1).fabric, 2), 50_GBps);
  EXPECT_EQ(bisection_bandwidth(two_switches(2).fabric, 2), 100_GBps);
  EXPECT_EQ(bisection_bandwidth(two_switches(5).fabric, 2), 100_GBps);  // two NICs a side
  EXPECT_EQ(bisection_bandwidth(two_switches(0).fabric, 2), Bandwidth(0.0));
}

TEST(GraphAnalysis, LetsGpusOfOneHostFlowToOthersWithinTheirLinks) {
  const TwoSwitches net = two_switches(1);
  const std::vector<NodeId> from = {net.fabric.gpus()[0]};
  const std::vector<NodeId> to = {net.fabric.gpus()[1]};
  EXPECT_EQ(max_flow(net.fabric, from, to), 64_GBps);
}

// The slow twin: augment along any path until none is left (Ford and Fulkerson 1956), on a matrix of whole GB/s.
std::int64_t slow_max_flow(std::vector<std::vector<std::int64_t>> capacity, std::size_t from, std::size_t to) {
  const std::size_t n = capacity.size();
  std::int64_t total = 0;
  while (true) {
    std::vector<char> seen(n, 0);
    const std::function<std::int64_t(std::size_t, std::int64_t)> push = [&](std::size_t node, std::int64_t amount) {
      if (node == to) return amount;
      seen[node] = 1;
      for (std::size_t next = 0; next < n; ++next) {
        if (seen[next] != 0 || capacity[node][next] == 0) continue;
        const std::int64_t sent = push(next, std::min(amount, capacity[node][next]));
        if (sent == 0) continue;
        capacity[node][next] -= sent;
        capacity[next][node] += sent;
        return sent;
      }
      return std::int64_t{0};
    };
    const std::int64_t sent = push(from, std::numeric_limits<std::int64_t>::max());
    if (sent == 0) return total;
    total += sent;
  }
}

TEST(GraphAnalysis, AgreesWithAugmentingPathsOnRandomFabrics) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "fabric");
    const std::size_t nodes = 3 + random.next_below(10);
    std::vector<std::vector<std::int64_t>> capacity(nodes, std::vector<std::int64_t>(nodes, 0));
    Fabric fabric;
    for (std::size_t i = 0; i < nodes; ++i) fabric.add_node({.kind = NodeKind::kSwitch});
    const std::size_t links = nodes + random.next_below(3 * nodes);
    for (std::size_t i = 0; i < links; ++i) {
      const std::size_t a = random.next_below(nodes);
      const std::size_t b = random.next_below(nodes);
      const auto speed = static_cast<std::int64_t>(1 + random.next_below(20));
      if (a == b) continue;
      fabric.add_link(
          {.from = NodeId(a), .to = NodeId(b), .bandwidth = Bandwidth(static_cast<double>(speed)), .latency = {}});
      capacity[a][b] += speed;
    }
    const std::vector<NodeId> from = {NodeId(0)};
    const std::vector<NodeId> to = {NodeId(1)};
    EXPECT_EQ(max_flow(fabric, from, to).count(), static_cast<double>(slow_max_flow(capacity, 0, 1))) << seed;
  }
}

}  // namespace
}  // namespace ringwright::graph_analysis_test
