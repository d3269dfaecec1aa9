#include "network_models/host/host.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/cluster_text.h"

namespace ringwright::network_models::host_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Host, ReadsASmallNodeAndReportsWhatItAssumed) {
  const auto cluster = load_cluster(
      "node:\n"
      "  gpus: 2\n"
      "  nvlink: {kind: nvswitch, bandwidth: 450GB/s}\n"
      "  nic: {count: 2, bandwidth: 400Gbps}\n");
  EXPECT_THAT(cluster.problems, IsEmpty());
  EXPECT_EQ(cluster.host.gpus, 2);
  EXPECT_EQ(cluster.host.nvlink.bandwidth, 450_GBps);
  EXPECT_EQ(cluster.host.nic.bandwidth, 50_GBps);
  EXPECT_FALSE(cluster.host.nvlink.reduces);
  EXPECT_THAT(cluster.assumptions, ElementsAre("node.nvlink.latency", "node.nic.latency", "node.pcie.bandwidth",
                                               "node.pcie.latency", "node.memory.bandwidth"));
}

TEST(Host, LinksCarryDataAtTheirEfficiency) {
  const auto cluster = load_cluster(
      "nodes: 2\n"
      "node:\n"
      "  gpus: 2\n"
      "  nvlink: {kind: nvswitch, bandwidth: 450GB/s, efficiency: 80%}\n"
      "  nic: {count: 2, bandwidth: 400Gbps, efficiency: 90%, ports: 2}\n"
      "fabric: {type: rail_optimized}\n");
  EXPECT_THAT(cluster.problems, IsEmpty());
  EXPECT_EQ(cluster.host.nvlink.bandwidth, 450_GBps);  // the vendor's nominal rate
  EXPECT_EQ(cluster.host.nvlink.data_rate(), 360_GBps);
  EXPECT_EQ(cluster.host.nic.bandwidth, 50_GBps);  // of both ports together
  EXPECT_EQ(cluster.host.nic.ports, 2);
  const Network network = cluster.topology->build();
  std::vector<Hop> hops;
  network.router->route({.from = RankId(0), .to = RankId(1)}, hops);
  EXPECT_EQ(network.router->capacities()[hops.front().link.index()], 360_GBps);
  network.router->route({.from = RankId(0), .to = RankId(2)}, hops);
  double narrowest = 1e18;
  for (const Hop& hop : hops) narrowest = std::min(narrowest, network.router->capacities()[hop.link.index()].count());
  EXPECT_DOUBLE_EQ(narrowest, 45e9);
}

TEST(Host, GivesEachGpuTheNicOfItsOwnSwitchWithItsPositionThere) {
  Host host{.gpus = 4};
  host.nic.count = 4;
  host.pcie.gpu_at = {0, 0, 1, 1};
  host.pcie.nic_at = {1, 0, 1, 0};
  EXPECT_EQ(host.nic_of(0), 1);
  EXPECT_EQ(host.nic_of(1), 3);
  EXPECT_EQ(host.nic_of(2), 0);
  EXPECT_EQ(host.nic_of(3), 2);
}

TEST(Host, LetsGpusShareANicWhereThereAreFewer) {
  Host host{.gpus = 8};
  host.nic.count = 4;
  host.pcie.gpu_at = spread_evenly(8, 4);
  host.pcie.nic_at = spread_evenly(4, 4);
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(host.nic_of(gpu), gpu / 2);
  // No NIC under a GPU's own switch: by proportion.
  host.nic.count = 1;
  host.pcie.nic_at = {3};
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(host.nic_of(gpu), 0);
}

TEST(Host, RejectsMeshLinksThatDoNotJoinTwoGpus) {
  const auto cluster = load_cluster(
      "node:\n"
      "  gpus: 4\n"
      "  nvlink:\n"
      "    kind: nvlink_mesh\n"
      "    link_bandwidth: 25GB/s\n"
      "    mesh: [\"0-1:2\", \"0-4:1\", \"2-2\", \"1-0\", \"a-b\", \"2-3:0\"]\n");
  EXPECT_THAT(cluster.problems, ElementsAre("6:11 E122 '0-4:1' is not a link between two of the 4 GPUs",
                                            "6:11 E122 '2-2' is not a link between two of the 4 GPUs",
                                            "6:11 E122 '1-0' connects a pair that is already connected",
                                            "6:11 E122 'a-b' is not a link between two of the 4 GPUs",
                                            "6:11 E122 '2-3:0' is not a link between two of the 4 GPUs"));
  EXPECT_EQ(cluster.host.nvlink.mesh.size(), 1U);
}

TEST(Host, RejectsAttachmentListsOfTheWrongLength) {
  const auto cluster = load_cluster(
      "node:\n"
      "  gpus: 4\n"
      "  pcie: {switches: 2, gpu_at: [0, 0, 1]}\n");
  EXPECT_THAT(cluster.problems, ElementsAre("3:31 E122 'node.pcie.gpu_at' has 3 entries but the node has 4 of them"));
}

TEST(Host, RejectsBoardsThatCannotReachEachOther) {
  const auto cluster = load_cluster(
      "node:\n"
      "  gpus: 4\n"
      "  nic: {count: 1, bandwidth: 25GB/s}\n"
      "  pcie: {sockets: 2, sockets_per_board: 1}\n");
  EXPECT_THAT(cluster.problems, ElementsAre("4:3 E122 GPU 2 and its NIC 0 are on boards that are not connected",
                                            "4:41 E122 GPUs of different boards can communicate only over an NVSwitch "
                                            "plane"));
}

TEST(Host, IgnoresPresetKeysOfComponentsThatAreOverridden) {
  const auto cluster = load_cluster("node: {preset: dgx-h100, nvlink: {kind: none}, nic: {count: 0}}\n");
  EXPECT_THAT(cluster.problems, IsEmpty());
  EXPECT_EQ(cluster.host.nvlink.kind, ScaleUp::kNone);
  EXPECT_FALSE(cluster.host.nvlink.reduces);
  EXPECT_EQ(cluster.host.nic.count, 0);
}

// A mistyped key would otherwise leave the GPUs unconnected, or the node without NICs or drives.
TEST(Host, RefusesUnknownKeysOfComponentsThatAreNotThere) {
  for (const char* component : {"nvlink: {type: nvswitch, bandwidth: 450GB/s}", "nic: {type: 8, bandwidth: 400Gbps}",
                                "storage: {type: 4, read: 6GB/s}"}) {
    const auto cluster = load_cluster(std::string("node: {gpus: 2, ") + component + "}\n");
    EXPECT_THAT(cluster.problems, testing::Contains(testing::HasSubstr("type"))) << component;
  }
}

TEST(Host, SpreadsDevicesInEqualBlocks) {
  EXPECT_THAT(spread_evenly(8, 4), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(spread_evenly(3, 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(spread_evenly(0, 4), IsEmpty());
}

}  // namespace
}  // namespace ringwright::network_models::host_test
