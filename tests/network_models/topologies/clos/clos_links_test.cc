#include "network_models/topologies/clos/clos_links.h"

#include <gtest/gtest.h>

#include "core/fabric/fabric.h"
#include "network_models/topologies/clos/clos.h"
#include "tests/network_models/clos_orders.h"

namespace ringwright::network_models::clos_links_test {
namespace {

struct Built {
  ClosShape shape;
  HostBlock block;
  ClosLinks links;
  Network network;
};

Built build(const ClosOrder& order, int gpus, int hosts) {
  const Host host = simple_host(gpus, gpus);
  DerivedClos derived = derive_clos(order, host, hosts);
  for (const OrderProblem& problem : derived.problems) ADD_FAILURE() << problem.message;
  const HostBlock block(host);
  return {.shape = derived.shape,
          .block = block,
          .links = ClosLinks(derived.shape, block),
          .network = build_clos({.host = host, .shape = derived.shape, .routing = {}})};
}

ClosOrder three_tiers() {
  ClosOrder order = rail_order(24, 2, 4);
  order.leaf.oversubscription = 2.0;
  order.tiers = 3;
  order.pod = 2;
  return order;
}

TEST(ClosLinks, NumberCablesBetweenNicsAndTheirLeaves) {
  const Built b = build(three_tiers(), 4, 24);  // 4 NICs on 2 rails
  const Fabric& fabric = b.network.fabric;
  for (std::uint32_t host = 0; host < 24; ++host) {
    for (std::uint32_t nic = 0; nic < 4; ++nic) {
      const LinkId up(b.links.cable(host, nic, 0));
      EXPECT_EQ(fabric.link(up).from, b.block.nic_node(host, nic));
      EXPECT_EQ(fabric.link(up).to, NodeId(b.links.leaf_node(b.links.leaf(host / 4, nic % 2))));
      EXPECT_EQ(fabric.link(LinkId(up.value + 1)).from, fabric.link(up).to);
      EXPECT_EQ(fabric.link(LinkId(up.value + 1)).to, fabric.link(up).from);
    }
  }
}

TEST(ClosLinks, NumberUplinksSoThatParallelOnesLeadToTheSameSpine) {
  const Built b = build(three_tiers(), 4, 24);
  const Fabric& fabric = b.network.fabric;
  for (std::uint32_t leaf = 0; leaf < b.shape.leaves(); ++leaf) {
    for (std::uint32_t lane = 0; lane < b.shape.uplinks; ++lane) {
      const LinkSpec& up = fabric.link(LinkId(b.links.uplink(leaf, lane)));
      const std::uint32_t pod = b.links.pod(leaf / b.shape.rails, leaf % b.shape.rails);
      EXPECT_EQ(up.from, NodeId(b.links.leaf_node(leaf)));
      EXPECT_EQ(up.to, NodeId(b.links.spine_node(pod, lane % b.shape.spines)));
      EXPECT_EQ(fabric.node(up.to).kind, NodeKind::kSpine);
    }
  }
}

TEST(ClosLinks, NumberCoreLinksByPlane) {
  const Built b = build(three_tiers(), 4, 24);
  const Fabric& fabric = b.network.fabric;
  ASSERT_GT(b.shape.spine_uplinks, 0U);
  std::uint32_t last = 0;
  for (std::uint32_t pod = 0; pod < b.shape.pods; ++pod) {
    for (std::uint32_t spine = 0; spine < b.shape.spines; ++spine) {
      for (std::uint32_t lane = 0; lane < b.shape.spine_uplinks; ++lane) {
        last = b.links.core_link(pod, spine, lane);
        EXPECT_EQ(fabric.link(LinkId(last)).from, NodeId(b.links.spine_node(pod, spine)));
        EXPECT_EQ(fabric.link(LinkId(last)).to, NodeId(b.links.core_node(spine, lane % b.shape.cores)));
      }
    }
  }
  EXPECT_EQ(last + 2, fabric.link_count());  // the last cable, and its reverse link
}

TEST(ClosLinks, UseNoMorePortsThanSwitchesHave) {
  for (const ClosOrder& order : {three_tiers(), rail_order(16, 4, 4), simple_order(8)}) {
    const Built b = build(order, 4, 8);
    std::vector<int> ports(b.network.fabric.node_count(), 0);
    for (std::size_t i = 0; i < b.network.fabric.link_count(); ++i)
      ++ports[b.network.fabric.link(LinkId(i)).from.index()];
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const NodeKind kind = b.network.fabric.node(NodeId(i)).kind;
      if (kind != NodeKind::kLeaf && kind != NodeKind::kSpine && kind != NodeKind::kCore) continue;
      EXPECT_LE(ports[i], order.leaf.ports) << b.network.fabric.name(NodeId(i));
      EXPECT_GT(ports[i], 0) << b.network.fabric.name(NodeId(i));
    }
  }
}

TEST(ClosLinks, SpreadNicsRoundRobinOverRailsAndInBlocksOverLeaves) {
  const Built rails = build(rail_order(16, 2, 4), 4, 8);
  EXPECT_EQ(rails.links.rail_of(2), 0U);
  EXPECT_EQ(rails.links.rail_of(3), 1U);
  EXPECT_EQ(rails.links.place_of(2), 1U);
  const Built blocks = build(simple_order(4), 4, 4);  // 2 NICs a leaf: a host connects to 2 leaves
  EXPECT_EQ(blocks.links.rail_of(1), 0U);
  EXPECT_EQ(blocks.links.rail_of(2), 1U);
  EXPECT_EQ(blocks.links.place_of(3), 1U);
}

TEST(ClosLinks, PutEachRailOfARailOnlyNetworkIntoAPodOfItsOwn) {
  const Built b = build(rail_only_order(16, 4, 4), 4, 14);
  for (std::uint32_t group = 0; group < b.shape.groups; ++group) {
    for (std::uint32_t rail = 0; rail < 4; ++rail) EXPECT_EQ(b.links.pod(group, rail), rail);
  }
  // No spine connects two rails.
  for (std::size_t i = 0; i < b.network.fabric.link_count(); ++i) {
    const LinkSpec& link = b.network.fabric.link(LinkId(i));
    if (b.network.fabric.node(link.to).kind != NodeKind::kSpine) continue;
    EXPECT_EQ(b.network.fabric.node(link.from).second, b.network.fabric.node(link.to).first);
  }
}

}  // namespace
}  // namespace ringwright::network_models::clos_links_test
