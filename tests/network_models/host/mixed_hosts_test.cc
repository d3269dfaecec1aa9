// Hosts of two kinds in one fabric: numbering, NICs and paths.
#include <gtest/gtest.h>

#include "network_models/host/host_block.h"
#include "tests/network_models/cluster_text.h"

namespace ringwright::network_models::mixed_hosts_test {
namespace {

// Kinds 0, 1, 0: DGX H100, and hosts of eight GPUs with four NICs, whose latency is 100 ns longer.
Host mixed() {
  Host host = load_cluster("node: {preset: dgx-h100}\nfabric: {type: none}\n").host;
  Host other = load_cluster("node: {preset: dgx1-v100}\nfabric: {type: none}\n").host;
  other.nic.latency = host.nic.latency + Duration(100'000);
  host.others = {other};
  host.kind_of_host = {0, 1, 0};
  return host;
}

TEST(MixedHosts, FollowOneAnother) {
  const Host host = mixed();
  const HostBlock block(host);
  const HostGraph first(host);
  const HostGraph second(host.others.front());
  ASSERT_NE(first.node_count(), second.node_count());
  EXPECT_EQ(block.first_node(1), first.node_count());
  EXPECT_EQ(block.first_node(2), first.node_count() + second.node_count());
  EXPECT_EQ(block.first_node(3), 2 * first.node_count() + second.node_count());
  EXPECT_EQ(block.first_link(3), 2 * first.link_count() + second.link_count());
  EXPECT_EQ(block.first_nic()(1), 8U);
  EXPECT_EQ(block.first_nic()(2), 12U);
  EXPECT_EQ(block.first_nic()(3), 20U);
  Fabric fabric;
  block.append_hosts(fabric, 3);
  EXPECT_EQ(fabric.node_count(), block.first_node(3));
  EXPECT_EQ(fabric.link_count(), block.first_link(3));
  EXPECT_EQ(fabric.name(block.nic_node(1, 3)), "host1/nic3");
  EXPECT_EQ(fabric.name(block.nic_node(2, 7)), "host2/nic7");
  EXPECT_EQ(fabric.name(fabric.gpus()[8]), "host1/gpu0");
}

TEST(MixedHosts, HaveTheirOwnNics) {
  const HostBlock block(mixed());
  EXPECT_EQ(block.nics(), 8U);
  EXPECT_EQ(block.nics_at(1), 4U);
  EXPECT_TRUE(block.has_nic(0, 7));
  EXPECT_FALSE(block.has_nic(1, 7));
  EXPECT_EQ(block.more_nic_latency(0), Duration());
  EXPECT_EQ(block.more_nic_latency(1), Duration(100'000));
  // GPU 7 of a DGX H100 has NIC 7; of a DGX-1 two GPUs share a NIC.
  const HostEnds ends{.from_host = 0, .from_gpu = 7, .to_host = 1, .to_gpu = 7};
  const NicEnds nics = block.nics({.from = RankId(7), .to = RankId(15)}, ends);
  EXPECT_EQ(nics.out, 7U);
  EXPECT_EQ(nics.in, 3U);
  // A NIC that the host does not have is not taken.
  RouteQuery asked{.from = RankId(7), .to = RankId(15)};
  asked.nics = {.out = 6, .in = 6};
  EXPECT_EQ(block.nics(asked, ends).out, 6U);
  EXPECT_EQ(block.nics(asked, ends).in, 3U);
}

TEST(MixedHosts, TakeTheFastestNicOfAllKinds) {
  const Host host = mixed();
  EXPECT_EQ(host.most_nics(), 8);
  EXPECT_EQ(host.fastest_nic(), host.nic.bandwidth);
  EXPECT_TRUE(host.every_kind_has_nics());
  EXPECT_EQ(host.kind_at(1).nic.count, 4);
  EXPECT_EQ(host.kind_at(2).nic.count, 8);
}

}  // namespace
}  // namespace ringwright::network_models::mixed_hosts_test
