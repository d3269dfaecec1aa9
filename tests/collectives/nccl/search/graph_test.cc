// Channels that NCCL prints at start, on hosts whose logs are known, and those of communicators of a training job.
#include "collectives/nccl/search/graph.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/nccl/search/capacity.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::graph_test {
namespace {

struct Found {
  int channels;
  double gb;
  int compute;
  friend bool operator==(const Found&, const Found&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& f) {
    return out << f.channels << " x " << f.gb << " -> " << f.compute;
  }
};

NcclGraphs graphs(const NcclHost& host, int ranks, int per_host) {
  return find_nccl_graphs(host, make_block_layout(ranks, per_host), shipped_tables("2.30"));
}

Found rings(const NcclHost& host, int ranks, int per_host) {
  const NcclGraphs found = graphs(host, ranks, per_host);
  return {found.ring.channels, found.ring.inside_gb, found.compute_channels};
}

// 240 GB/s of NVLink hold 6 rings of 40, which are doubled: 12 of 20, each used twice.
TEST(NcclGraph, EightA100Have24Channels) { EXPECT_EQ(rings(dgx_a100(), 8, 8), (Found{12, 20.0, 24})); }

// 370.8 GB/s hold 6 rings of 60, and not more at any other speed: 12 of 30.
TEST(NcclGraph, EightH100Have24Channels) { EXPECT_EQ(rings(dgx_h100(), 8, 8), (Found{12, 30.0, 24})); }

// 721.8 GB/s hold 8 rings of 90: 16 of 45.
TEST(NcclGraph, EightB200Have32Channels) { EXPECT_EQ(rings(dgx_b200(), 8, 8), (Found{16, 45.0, 32})); }

// One ring enters and leaves by each NIC of 400 Gb/s, at the 48 GB/s of its slot; from Hopper on they are not doubled.
TEST(NcclGraph, HostsWithEightNicsOf400GbitHaveOneRingForEach) {
  EXPECT_EQ(rings(dgx_h100(), 16, 8), (Found{8, 48.0, 16}));
  EXPECT_EQ(rings(dgx_h100(), 1024, 8), (Found{8, 48.0, 16}));
}

TEST(NcclGraph, HostsWithTwoNicsOf200GbitHaveFourChannels) {
  EXPECT_EQ(rings(polaris(), 8, 4), (Found{2, 24.0, 4}));
}

// A single GPU leaves the host by its slot: one ring of 48, doubled.
TEST(NcclGraph, OneGpuAHostHasItsOwnNicOnly) { EXPECT_EQ(rings(dgx_h100(), 4, 1), (Found{2, 24.0, 4})); }

TEST(NcclGraph, GroupsInsideAHostFindItsWholeNvlink) {
  EXPECT_EQ(rings(dgx_h100(), 2, 2), (Found{12, 30.0, 24}));
  EXPECT_EQ(rings(dgx_h100(), 4, 4), (Found{12, 30.0, 24}));
}

// A host without NIC 5 finds channels for seven NICs, numbered as on a complete host; the communicator takes the worse.
TEST(NcclGraph, HostsWithAMissingNicAreSearchedWithoutIt) {
  NcclHost host = dgx_h100();
  host.missing_nics = {{}, {5}};
  GroupLayout layout = make_block_layout(16, 8);
  layout.nic_set = {0, 1};
  const NcclGraphs found = find_nccl_graphs(host, layout, shipped_tables("2.30"));
  ASSERT_EQ(found.of_members.size(), 2U);
  const NcclGraph& whole = found.of_members[0].ring;
  const NcclGraph& reduced = found.of_members[1].ring;
  EXPECT_EQ(whole.channels, 8);
  EXPECT_LT(reduced.channels * reduced.between_gb, whole.channels * whole.between_gb);
  EXPECT_EQ(found.ring.channels, std::min(whole.channels, reduced.channels));
  for (const auto& ports : reduced.ports) {
    EXPECT_NE(ports[0], 5);
    EXPECT_NE(ports[1], 5);
  }
  EXPECT_EQ(whole.channels, graphs(dgx_h100(), 16, 8).ring.channels);
}

// A communicator of H100 and A100 hosts takes the worse of what both find, and the doubling of the older ones.
TEST(NcclGraph, HostsOfTwoKindsAreSearchedEachForItself) {
  NcclHost host = dgx_h100();
  host.others = {dgx_a100()};
  GroupLayout layout = make_block_layout(32, 8);
  layout.nic_set = {0, 0, kNicSetsOfKind, kNicSetsOfKind};
  const NcclGraphs found = find_nccl_graphs(host, layout, shipped_tables("2.30"));
  const NcclGraphs of_h100 = graphs(dgx_h100(), 32, 8);
  const NcclGraphs of_a100 = graphs(dgx_a100(), 32, 8);
  ASSERT_EQ(found.of_members.size(), 2U);
  EXPECT_EQ(found.of_members[0].ring.channels, of_h100.ring.channels);
  EXPECT_EQ(found.of_members[1].ring.channels, of_a100.ring.channels);
  EXPECT_EQ(found.ring.channels, std::min(of_h100.ring.channels, of_a100.ring.channels));
  EXPECT_EQ(found.ring.between_gb, std::min(of_h100.ring.between_gb, of_a100.ring.between_gb));
  layout.nic_set = {kNicSetsOfKind, kNicSetsOfKind, kNicSetsOfKind, kNicSetsOfKind};
  const NcclGraphs one_kind = find_nccl_graphs(host, layout, shipped_tables("2.30"));
  EXPECT_EQ(one_kind.ring.between_gb, of_a100.ring.between_gb);
  EXPECT_EQ(one_kind.compute_channels, of_a100.compute_channels);
}

// Two of eight GPUs per host: their own two NICs.
TEST(NcclGraph, GroupsOverHostsUseTheNicsOfTheirGpus) { EXPECT_EQ(rings(dgx_h100(), 8, 2), (Found{4, 24.0, 8})); }

// Each channel of in-switch reduction has a GPU at its head that the switch serves twice: 8 + 1 times 40 is the most
// that fits into 370.8 GB/s, and 5 + 1 times 60.
TEST(NcclGraph, InSwitchReductionHasAHeadForEachGpu) {
  const NcclGraphs eight = graphs(dgx_h100(), 8, 8);
  EXPECT_EQ(eight.nvls.channels, 8);
  EXPECT_DOUBLE_EQ(eight.nvls.inside_gb, 40.0);
  const NcclGraphs five = graphs(dgx_h100(), 5, 5);
  EXPECT_EQ(five.nvls.channels, 5);
  EXPECT_DOUBLE_EQ(five.nvls.inside_gb, 60.0);
  EXPECT_EQ(graphs(dgx_a100(), 8, 8).nvls.channels, 0);
}

TEST(NcclGraph, TreesAreFasterInsideThanBetweenHosts) {
  const NcclGraphs found = graphs(polaris(), 8, 4);
  EXPECT_EQ(found.tree.channels, 2);
  EXPECT_DOUBLE_EQ(found.tree.between_gb, 24.0);
  EXPECT_DOUBLE_EQ(found.tree.inside_gb, 48.0);  // at most twice as fast
}

// Rings of an H100 host come in pairs that swap NICs: eight that return through the GPU next to their own NIC would
// take 8 * 48 of that GPU's 370.8 GB/s. On a B200 host they fit. The A100 host has two GPUs next to each NIC. With a
// single GPU both ends are the same.
TEST(NcclGraph, NamesTheWorstRouteToANic) {
  EXPECT_EQ(graphs(dgx_h100(), 16, 8).ring.between, NcclPath::kPix);
  EXPECT_EQ(graphs(dgx_b200(), 16, 8).ring.between, NcclPath::kPxn);
  EXPECT_EQ(graphs(dgx_a100(), 16, 8).ring.between, NcclPath::kPix);
  EXPECT_EQ(graphs(dgx_h100(), 2, 1).ring.between, NcclPath::kPix);
  EXPECT_EQ(graphs(polaris(), 8, 4).ring.between, NcclPath::kPhb);
}

TEST(NcclGraph, OlderVersionsDoNotKnowTheRouteOverC2c) {
  const GroupLayout layout = make_block_layout(8, 4);
  EXPECT_EQ(find_nccl_graphs(alps(), layout, shipped_tables("2.30")).ring.between, NcclPath::kPxn);
  EXPECT_EQ(find_nccl_graphs(alps(), layout, shipped_tables("2.20")).ring.between, NcclPath::kPhb);
}

// A host with one member next to hosts with eight: channels of the poorer host.
TEST(NcclGraph, TheWorstHostDecides) {
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  for (int i = 0; i < 8; ++i) {
    host.push_back(0);
    gpu.push_back(i);
  }
  host.push_back(1);
  gpu.push_back(3);
  const NcclGraphs found = find_nccl_graphs(dgx_h100(), make_group_layout(host, gpu), shipped_tables("2.30"));
  EXPECT_EQ(found.ring.channels, 2);
  EXPECT_DOUBLE_EQ(found.ring.between_gb, 24.0);
}

// A planned 66 GB/s hold two trees of 30, of which one leaves through an Intel processor at 6/5 of that: NCCL ends its
// search at the first speed with a tree for every ring, here over the NICs of other GPUs. Narrower slots hold 24 each
// over their own.
TEST(NcclGraph, PairsOfGpusWithWideSlotsTakeNicsOfOthers) {
  const auto tree_with = [](double pcie_gb) {
    const NcclHost host = switched_host({.pcie_gb = pcie_gb});
    return find_nccl_graphs(host, make_group_layout({0, 0, 1, 1}, {0, 4, 0, 4}), shipped_tables("2.30")).tree;
  };
  using Ports = std::vector<std::array<int, 2>>;
  const NcclGraph own = tree_with(63.0);
  EXPECT_DOUBLE_EQ(own.between_gb, 24.0);
  EXPECT_EQ(own.between, NcclPath::kPix);
  EXPECT_EQ(own.ports, (Ports{{0, 0}, {4, 4}, {0, 0}, {4, 4}}));
  const NcclGraph shared = tree_with(90.0);
  EXPECT_DOUBLE_EQ(shared.between_gb, 30.0);
  EXPECT_EQ(shared.between, NcclPath::kPhb);
  EXPECT_EQ(shared.ports, (Ports{{0, 0}, {4, 4}, {1, 1}, {5, 5}}));
}

TEST(CountRings, CompleteGraphsPartIntoRings) {
  const auto complete = [](int size, int units) {
    std::vector<int> all(static_cast<std::size_t>(size * size), units);
    return all;
  };
  EXPECT_EQ(count_rings(2, complete(2, 3)), 3);
  EXPECT_EQ(count_rings(5, complete(5, 1)), 4);
  EXPECT_EQ(count_rings(8, complete(8, 1)), 7);
  // Not for four members: two of the three rings that arcs would allow (Tillson 1980); with two units per pair all six.
  EXPECT_EQ(count_rings(4, complete(4, 1)), 2);
  EXPECT_EQ(count_rings(4, complete(4, 2)), 6);
  EXPECT_EQ(count_rings(4, complete(4, 3)), 8);
  EXPECT_EQ(count_rings(4, complete(4, 5)), 14);
}

// DGX-1: 16 pairs with one or two lanes, six lanes per GPU, known for its three rings there and three back.
TEST(CountRings, TheCubeMeshOfEightV100HasSixRings) {
  struct Lanes { int a, b, lanes; };
  const std::vector<Lanes> mesh = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                                   {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                                   {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  std::vector<int> units(64, 0);
  for (const Lanes& l : mesh) {
    units[static_cast<std::size_t>(l.a * 8 + l.b)] = l.lanes;
    units[static_cast<std::size_t>(l.b * 8 + l.a)] = l.lanes;
  }
  EXPECT_EQ(count_rings(8, units), 6);
}

TEST(CountRings, NoRingWithoutAReturnPath) { EXPECT_EQ(count_rings(3, {0, 1, 0, 0, 0, 1, 0, 0, 0}), 0); }

}  // namespace
}  // namespace ringwright::collectives::graph_test
