// NCCL's search: results from NCCL logs that also print the host topology, and properties of every host.
#include "collectives/nccl/search/search.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "collectives/nccl/search/graph.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::search_test {
namespace {

struct Printed {
  int channels;
  double inside_gb;
  double between_gb;
  NcclPath between;
  friend bool operator==(const Printed&, const Printed&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Printed& p) {
    return out << p.channels << " x " << p.inside_gb << "/" << p.between_gb << " by " << static_cast<int>(p.between);
  }
};

Printed printed(const NcclGraph& graph) {
  return {graph.channels, graph.inside_gb, graph.between_gb, graph.between};
}

NcclGraphs found(const NcclHost& host, int ranks, int per_host, const std::string& version = "2.30") {
  return find_nccl_graphs(host, make_block_layout(ranks, per_host), shipped_tables(version));
}

NcclHost crossing(NcclHost host, int cross_nic) {
  host.cross_nic = cross_nic;
  return host;
}

// By hand for NCCL 2.23: with NCCL_CROSS_NIC=0 a ring's last GPU reaches the NIC by which the ring entered over a link
// between two Graces, 6 GB/s; there are twelve such links, and 25 GB/s of a NIC hold four rings of 6. A tree needs one
// GPU at the NIC, but as many channels as the ring: four of 6 at each NIC, which inside the host may be twice as fast.
TEST(NcclSearch, GraceHoppersThatMayNotCrossNicsHaveTwelveSlowRings) {
  const NcclGraphs graphs = found(crossing(alps(), 0), 16, 4, "2.23");
  EXPECT_EQ(printed(graphs.ring), (Printed{12, 6.0, 6.0, NcclPath::kSys}));
  EXPECT_EQ(printed(graphs.tree), (Printed{12, 12.0, 6.0, NcclPath::kPhb}));
  EXPECT_TRUE(graphs.tree.plain_tree);
  EXPECT_EQ(graphs.compute_channels, 24);
}

TEST(NcclSearch, GraceHoppersThatCrossNicsHaveOneRingForEach) {
  for (const int cross_nic : {1, 2}) {
    const NcclGraphs graphs = found(crossing(alps(), cross_nic), 16, 4, "2.23");
    EXPECT_EQ(printed(graphs.ring), (Printed{4, 24.0, 24.0, NcclPath::kPhb})) << cross_nic;
    EXPECT_EQ(printed(graphs.tree), (Printed{4, 48.0, 24.0, NcclPath::kPhb})) << cross_nic;
  }
}

// github.com/NVIDIA/nccl/issues/1189: two GPUs of an H20 host, each next to a NIC of 400 Gb/s, without PXN: "Pattern 4,
// crossNic 1, nChannels 4, bw 24/24, type NVL/PIX", channels NET/3 GPU/0 GPU/1 NET/2, NET/2 GPU/1 GPU/0 NET/3 and the
// same again.
TEST(NcclSearch, TwoGpusWithoutPxnSwapTheirNics) {
  NcclHost host = dgx_h100();
  host.pxn = false;
  const NcclGraph ring = found(host, 4, 2).ring;
  EXPECT_EQ(printed(ring), (Printed{4, 24.0, 24.0, NcclPath::kPix}));
  EXPECT_FALSE(ring.same_channels);
  const std::vector<std::vector<int>> orders = {{0, 1}, {1, 0}, {0, 1}, {1, 0}};
  EXPECT_EQ(ring.orders, orders);
  const std::vector<std::array<int, 2>> ports = {{0, 1}, {1, 0}, {0, 1}, {1, 0}};
  EXPECT_EQ(ring.ports, ports);
}

// github.com/NVIDIA/nccl/issues/713, the graph file of a host with four V100, two lanes per pair: six rings of 22 GB/s,
// NVL/PIX, different from each other, the first five in this order (the rest of the file is not quoted there).
TEST(NcclSearch, FourV100HaveTheSixRingsOfTheirGraphFile) {
  const NcclHost host = mesh_of_four({.compute_capability = 70,
                                      .lanes = 2,
                                      .pcie_gb = 15.75,
                                      .slot_gb = 15.75,
                                      .sockets = 2,
                                      .processor = Processor::kIntel});
  const NcclGraph ring = found(host, 4, 4, "2.15").ring;
  EXPECT_EQ(printed(ring), (Printed{6, 22.0, 22.0, NcclPath::kPix}));
  EXPECT_FALSE(ring.same_channels);
  const std::vector<std::vector<int>> first = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  EXPECT_EQ(std::vector(ring.orders.begin(), ring.orders.begin() + 5), first);
}

// github.com/NVIDIA/nccl/issues/1358: two GPUs on two sockets of Intel: "nChannels 1, bw 10/10, type SYS/PIX,
// sameChannels 1", for rings and trees.
TEST(NcclSearch, GpusOnTwoSocketsUseTheLinkBetweenThem) {
  NcclHost host = mesh_of_four({.sockets = 2, .processor = Processor::kIntel});
  host.links = NcclHost::Links::kPcie;
  host.lanes.clear();
  host.gpus = 2;
  host.gpu_at = {0, 1};
  const NcclGraphs graphs = found(host, 2, 2, "2.20");
  for (const NcclGraph* graph : {&graphs.ring, &graphs.tree}) {
    EXPECT_EQ(printed(*graph), (Printed{1, 10.0, 10.0, NcclPath::kPix}));
    EXPECT_EQ(graph->inside, NcclPath::kSys);
    EXPECT_TRUE(graph->same_channels);
  }
}

// github.com/NVIDIA/nccl/issues/601: four GPUs and four ports of 10 Gb/s on two sockets: "nChannels 4, speed 1.2/1.2,
// type SYS/SYS", a ring per port, which leaves by the port it entered by.
TEST(NcclSearch, SlowPortsHaveARingEach) {
  NcclHost host = mesh_of_four({.compute_capability = 60,
                                .pcie_gb = 15.75,
                                .slot_gb = 15.75,
                                .nics = 4,
                                .sockets = 2,
                                .processor = Processor::kIntel});
  host.links = NcclHost::Links::kPcie;
  host.lanes.clear();
  host.nic = Bandwidth(1.25e9);
  host.socket = Bandwidth(6e9);
  const NcclGraph ring = found(host, 8, 4, "2.8").ring;
  EXPECT_EQ(printed(ring), (Printed{4, 1.2, 1.2, NcclPath::kSys}));
  EXPECT_EQ(ring.inside, NcclPath::kSys);
  const std::vector<std::array<int, 2>> ports = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
  EXPECT_EQ(ring.ports, ports);
}

TEST(NcclSearch, RingsOnSwitchesGoFromNeighbourToNeighbour) {
  const NcclGraph ring = found(dgx_h100(), 16, 8).ring;
  const std::vector<int> down = {0, 7, 6, 5, 4, 3, 2, 1};
  const std::vector<int> up = {1, 2, 3, 4, 5, 6, 7, 0};
  EXPECT_EQ(ring.orders[0], down);
  EXPECT_EQ(ring.orders[1], up);
}

struct Case {
  std::string name;
  NcclHost host;
  int per_host;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int cross_nic : {0, 1, 2}) {
    const std::string suffix = " cross " + std::to_string(cross_nic);
    for (const int per_host : {1, 2, 4}) {
      all.push_back({"alps" + suffix, crossing(alps(), cross_nic), per_host});
      all.push_back({"polaris" + suffix, crossing(polaris(), cross_nic), per_host});
    }
    for (const int per_host : {1, 2, 3, 8}) {
      all.push_back({"a100" + suffix, crossing(dgx_a100(), cross_nic), per_host});
      all.push_back({"h100" + suffix, crossing(dgx_h100(), cross_nic), per_host});
      all.push_back({"b200" + suffix, crossing(dgx_b200(), cross_nic), per_host});
    }
  }
  return all;
}

TEST(NcclSearch, EveryChannelPassesEveryGpuOnce) {
  for (const Case& c : cases()) {
    for (const int hosts : {1, 2}) {
      const NcclGraphs graphs = found(c.host, hosts * c.per_host, c.per_host);
      for (const NcclGraph* graph : {&graphs.ring, &graphs.tree}) {
        for (std::vector<int> order : graph->orders) {
          std::ranges::sort(order);
          std::vector<int> all;
          for (int gpu = 0; gpu < c.per_host; ++gpu) all.push_back(gpu);
          EXPECT_EQ(order, all) << c.name;
        }
      }
    }
  }
}

// Load of a ring's channels on each link of a host, from their orders alone.
std::map<std::pair<int, int>, double> loads(const NcclTopology& topology, const NcclGraph& ring) {
  std::map<std::pair<int, int>, double> load;
  const auto walk = [&](int from, int to, double speed) {
    for (const int index : topology.route(from, to).links) {
      const NcclTopology::Link& link = topology.links()[static_cast<std::size_t>(index)];
      load[{link.from, link.to}] += speed;
    }
  };
  for (std::size_t channel = 0; channel < ring.orders.size(); ++channel) {
    const std::vector<int>& order = ring.orders[channel];
    for (std::size_t i = 0; i + 1 < order.size(); ++i) walk(order[i], order[i + 1], ring.inside_gb);
    if (ring.ports.empty()) {
      walk(order.back(), order.front(), ring.inside_gb);
      continue;
    }
    walk(topology.net(ring.ports[channel][0]), order.front(), ring.between_gb);
    walk(order.back(), topology.net(ring.ports[channel][1]), ring.between_gb);
  }
  return load;
}

TEST(NcclSearch, NoLinkCarriesMoreThanItHas) {
  const NcclTables tables = shipped_tables("2.30");
  for (const Case& c : cases()) {
    for (const int hosts : {1, 2}) {
      if (c.per_host * hosts < 2) continue;
      std::vector<int> members;
      for (int gpu = 0; gpu < c.per_host; ++gpu) members.push_back(gpu);
      const NcclTopology topology(c.host, members, tables, hosts > 1);
      const auto load = loads(topology, found(c.host, hosts * c.per_host, c.per_host).ring);
      for (const NcclTopology::Link& link : topology.links()) {
        const auto taken = load.find({link.from, link.to});
        if (taken == load.end()) continue;
        EXPECT_LE(taken->second, link.rate / 1000.0 + 0.001) << c.name << " " << link.from << " to " << link.to;
      }
    }
  }
}

TEST(NcclSearch, TreesHaveAsManyChannelsAsRings) {
  for (const Case& c : cases()) {
    const NcclGraphs graphs = found(c.host, 2 * c.per_host, c.per_host);
    EXPECT_EQ(graphs.ring.channels, graphs.tree.channels) << c.name;
    EXPECT_GE(graphs.ring.channels, 1) << c.name;
  }
}

TEST(NcclSearch, RingsThatMayNotCrossNicsReturnByTheirOwn) {
  for (const Case& c : cases()) {
    if (c.host.cross_nic != 0) continue;
    for (const auto& [in, out] : found(c.host, 2 * c.per_host, c.per_host).ring.ports) EXPECT_EQ(in, out) << c.name;
  }
}

}  // namespace
}  // namespace ringwright::collectives::search_test
