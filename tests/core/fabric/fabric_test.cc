#include "core/fabric/fabric.h"

#include <gtest/gtest.h>

namespace ringwright::fabric_test {
namespace {

using namespace ringwright::literals;

TEST(Fabric, NumbersNodesAndLinksInTheOrderOfAdding) {
  Fabric fabric;
  const NodeId a = fabric.add_node({.kind = NodeKind::kGpu, .first = 0, .second = 0});
  const NodeId b = fabric.add_node({.kind = NodeKind::kGpu, .first = 0, .second = 1});
  const LinkId there = fabric.add_duplex({.from = a, .to = b, .bandwidth = 25_GBps, .latency = 500_ns});
  EXPECT_EQ(a, NodeId(0));
  EXPECT_EQ(there, LinkId(0));
  EXPECT_EQ(fabric.link(LinkId(1)).from, b);
  EXPECT_EQ(fabric.link(LinkId(1)).to, a);
  EXPECT_EQ(fabric.capacities().size(), 2U);
  EXPECT_EQ(fabric.capacities()[1], 25_GBps);
}

TEST(Fabric, NamesNodesByWhereTheyAre) {
  Fabric fabric;
  const auto name = [&fabric](NodeKind kind, int first, int second) {
    return fabric.name(fabric.add_node({.kind = kind, .first = first, .second = second}));
  };
  EXPECT_EQ(name(NodeKind::kGpu, 17, 3), "host17/gpu3");
  EXPECT_EQ(name(NodeKind::kPcieSwitch, 2, 1), "host2/pcie1");
  EXPECT_EQ(name(NodeKind::kLeaf, 4, 2), "leaf4.2");
  EXPECT_EQ(name(NodeKind::kSpine, 7, -1), "spine7");
  EXPECT_EQ(name(NodeKind::kSwitch, -1, -1), "switch4");
  const NodeId given = fabric.add_named_node(NodeKind::kSwitch, "tor-a");
  EXPECT_EQ(fabric.name(given), "tor-a");
  const LinkId link = fabric.add_link({.from = NodeId(3), .to = given, .bandwidth = 1_GBps, .latency = 0_ps});
  EXPECT_EQ(fabric.name(link), "spine7->tor-a");
}

TEST(Fabric, ReadsTheNamesOfKindsThatItWrites) {
  for (int i = 0; i <= static_cast<int>(NodeKind::kStorage); ++i) {
    const auto kind = static_cast<NodeKind>(i);
    EXPECT_EQ(parse_node_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(parse_node_kind("router"), std::nullopt);
}

TEST(FabricDeathTest, RefusesLinksToNowhereAndLinksThatCarryNothing) {
  Fabric fabric;
  const NodeId a = fabric.add_node({.kind = NodeKind::kGpu});
  EXPECT_DEATH(fabric.add_link({.from = a, .to = NodeId(9), .bandwidth = 1_GBps, .latency = 0_ps}), "two nodes");
  EXPECT_DEATH(fabric.add_link({.from = a, .to = a, .bandwidth = Bandwidth(0.0), .latency = 0_ps}),
               "positive bandwidth");
}

}  // namespace
}  // namespace ringwright::fabric_test
