#include "network_models/host/host_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/cluster_text.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::host_block_test {
namespace {

using namespace ringwright::literals;

Network one_node(const std::string& node) {
  return load_cluster("node: " + node + "\nfabric: {type: none}\n").topology->build();
}

TEST(HostBlock, GoesThroughTheSwitchPlaneWhereThereIsOne) {
  const Network network = one_node("{preset: dgx-h100}");
  EXPECT_EQ(trace(network, between(2, 5)), "host0/gpu2 host0/nvswitch0 host0/gpu5");
  EXPECT_EQ(trace(network, between(2, 5, RouteKind::kUpToSwitch)), "host0/gpu2 host0/nvswitch0");
  EXPECT_EQ(trace(network, between(2, 5, RouteKind::kDownFromSwitch)), "host0/nvswitch0 host0/gpu5");
}

TEST(HostBlock, PaysTheNvLinkLatencyOnceInTwoHalves) {
  const Network network = one_node("{gpus: 2, nvlink: {kind: nvswitch, bandwidth: 450GB/s, latency: 0.333us}}");
  std::vector<Hop> hops;
  EXPECT_EQ(network.router->route(between(0, 1), hops), Duration(333'000));
  const Duration up = network.router->route(between(0, 1, RouteKind::kUpToSwitch), hops);
  const Duration down = network.router->route(between(0, 1, RouteKind::kDownFromSwitch), hops);
  EXPECT_EQ(up + down, Duration(333'000));
}

TEST(HostBlock, TakesALaneOfTheMeshOrElseThoseOfAThirdGpu) {
  const Network network = one_node("{preset: dgx1-v100, nvlink: {efficiency: 100%}}");
  EXPECT_EQ(trace(network, between(0, 3)), "host0/gpu0 host0/gpu3");
  // GPUs 0 and 5 share no lane. Neighbours of 5 with two lanes are 1 and 6, of which 1 has a lane to 0; those of 0 are
  // 3 and 4, of which 4 has a lane to 5.
  EXPECT_EQ(trace(network, between(0, 5)), "host0/gpu0 host0/gpu1 host0/gpu5");
  EXPECT_EQ(trace(network, between(5, 0)), "host0/gpu5 host0/gpu4 host0/gpu0");
  // Without a neighbour in common there is PCIe; switches 0 and 1 are on sockets 0 and 1.
  const Network line = one_node("{gpus: 4, nvlink: {kind: nvlink_mesh, link_bandwidth: 25GB/s, mesh: [\"0-1:1\", "
                                "\"1-2:1\", \"2-3:1\"]}, pcie: {switches: 2, sockets: 2}}");
  EXPECT_EQ(trace(line, between(0, 2)), "host0/gpu0 host0/gpu1 host0/gpu2");
  EXPECT_EQ(trace(line, between(0, 3)), "host0/gpu0 host0/pcie0 host0/cpu0 host0/cpu1 host0/pcie1 host0/gpu3");
  // Two lanes between 0 and 3 are one link of 50 GB/s.
  const auto hops = hops_of(network, between(0, 3));
  EXPECT_EQ(network.fabric.link(hops[0].link).bandwidth, 50_GBps);
}

TEST(HostBlock, HasItsApexAtTheHighestSwitchOfThePcieTree) {
  const Network same_switch = one_node("{gpus: 4, pcie: {switches: 2, sockets: 1}}");
  EXPECT_EQ(trace(same_switch, between(0, 1)), "host0/gpu0 host0/pcie0 host0/gpu1");
  EXPECT_EQ(trace(same_switch, between(0, 1, RouteKind::kUpToSwitch)), "host0/gpu0 host0/pcie0");
  EXPECT_EQ(trace(same_switch, between(0, 3, RouteKind::kUpToSwitch)), "host0/gpu0 host0/pcie0 host0/cpu0");
  EXPECT_EQ(trace(same_switch, between(0, 3, RouteKind::kDownFromSwitch)), "host0/cpu0 host0/pcie1 host0/gpu3");
}

// Over the GPU's slot into the memory of its socket, and from there to the NIC; back likewise.
TEST(HostBlock, WithoutGpudirectPathsToTheNicLeadThroughHostMemory) {
  const auto cluster = load_cluster("nodes: 2\nnode: {preset: a100-pcie}\nfabric: {type: fat_tree}\n");
  cluster.topology->pass_through_host_memory(25_GBps);
  const Network network = cluster.topology->build();
  EXPECT_EQ(trace(network, between(0, 4)),
            "host0/gpu0 host0/cpu0 host0/dram0 host0/cpu0 host0/nic0 leaf0 "
            "host1/nic0 host1/cpu0 host1/dram0 host1/cpu0 host1/gpu0");
  EXPECT_EQ(network.fabric.link(hops_of(network, between(0, 4))[0].link).bandwidth, 25_GBps);  // of a slot of 31.5
}

// Every GPU of a DGX H100 has its own PCIe switch. NICs 4, 6 and 7 are equally near to GPU 5: it takes the third of
// them, sends over the GPU that owns it and receives over PCIe.
TEST(HostBlock, AGpuWithoutItsNicTakesTheNearestThatIsLeft) {
  const auto cluster = load_cluster("nodes: 2\nnode: {preset: dgx-h100}\nfabric: {type: fat_tree}\n");
  cluster.topology->leave_out_nics({.missing = {{}, {5}}, .of_host = {1, 0}});
  const Network network = cluster.topology->build();
  EXPECT_EQ(trace(network, between(5, 13)),
            "host0/gpu5 host0/nvswitch0 host0/gpu7 host0/pcie7 host0/nic7 leaf0 "
            "host1/nic5 host1/pcie5 host1/gpu5");
  EXPECT_EQ(trace(network, between(13, 5)),
            "host1/gpu5 host1/pcie5 host1/nic5 leaf0 "
            "host0/nic7 host0/pcie7 host0/cpu1 host0/pcie5 host0/gpu5");
  RouteQuery asked = between(6, 13);
  asked.nics = {.out = 5, .in = 5};
  EXPECT_EQ(trace(network, asked), trace(network, between(6, 13)));
}

TEST(HostBlock, HasNoApexOnADirectLane) {
  const Network network = one_node("{preset: mi300x-8gpu}");
  EXPECT_EQ(trace(network, between(1, 6, RouteKind::kUpToSwitch)), "host0/gpu1 host0/gpu6");
  EXPECT_EQ(trace(network, between(1, 6, RouteKind::kDownFromSwitch)), "");
}

TEST(HostBlock, RepeatsWithTheSameNumbersForEveryHost) {
  const Host host = load_cluster("node: {preset: dgx-h100}\n").host;
  const HostBlock block(host);
  Fabric fabric;
  block.append_hosts(fabric, 3);
  ASSERT_EQ(fabric.node_count(), 3 * block.node_count());
  ASSERT_EQ(fabric.link_count(), 3 * block.link_count());
  for (std::uint32_t i = 0; i < block.link_count(); ++i) {
    const LinkSpec& first = fabric.link(LinkId(i));
    const LinkSpec& third = fabric.link(LinkId(2 * block.link_count() + i));
    EXPECT_EQ(third.from.value, first.from.value + 2 * block.node_count());
    EXPECT_EQ(third.to.value, first.to.value + 2 * block.node_count());
    EXPECT_EQ(third.bandwidth, first.bandwidth);
  }
  EXPECT_EQ(fabric.name(fabric.gpus()[17]), "host2/gpu1");
  EXPECT_EQ(fabric.name(block.nic_node(1, 7)), "host1/nic7");
}

TEST(HostBlock, HasAWayBetweenAnyTwoGpusWithoutNvLink) {
  EXPECT_EQ(first_broken_path(one_node("{preset: a100-pcie}")), "");
  EXPECT_EQ(first_broken_path(one_node("{gpus: 8, pcie: {switches: 4, sockets: 2}}")), "");
}

TEST(PathBuilder, AddsUpTheSharesOfPathsThatJoin) {
  std::vector<Hop> hops = {{.link = LinkId(9)}};
  PathBuilder builder(hops, RouteKind::kWhole);
  builder.add(1);
  const std::size_t since = builder.size();
  builder.add_share(since, 1, 0.5);
  builder.add_share(since, 2, 0.25);
  builder.add_share(since, 2, 0.25);
  ASSERT_EQ(hops.size(), 3U);  // the first link 1 lies before `since`
  EXPECT_DOUBLE_EQ(hops[1].share, 0.5);
  EXPECT_DOUBLE_EQ(hops[2].share, 0.5);
}

}  // namespace
}  // namespace ringwright::network_models::host_block_test
