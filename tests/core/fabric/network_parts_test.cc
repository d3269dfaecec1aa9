#include "core/fabric/network_parts.h"

#include <gtest/gtest.h>

namespace ringwright::network_parts_test {
namespace {

using namespace ringwright::literals;

// Two hosts with two NICs each, on a leaf each; two cables between the leaves.
TEST(NetworkParts, CountPortsAndEndsOfCables) {
  Fabric fabric;
  const NodeId leaves[2] = {fabric.add_node({.kind = NodeKind::kLeaf}), fabric.add_node({.kind = NodeKind::kLeaf})};
  for (int host = 0; host < 2; ++host) {
    const NodeId inside = fabric.add_node({.kind = NodeKind::kPcieSwitch, .first = host});
    for (int nic = 0; nic < 2; ++nic) {
      const NodeId node = fabric.add_node({.kind = NodeKind::kNic, .first = host, .second = nic});
      fabric.add_duplex({.from = inside, .to = node, .bandwidth = 64_GBps, .latency = 1_ns});
      fabric.add_duplex({.from = node, .to = leaves[host], .bandwidth = 50_GBps, .latency = 1_ns});
    }
  }
  for (int cable = 0; cable < 2; ++cable) {
    fabric.add_duplex({.from = leaves[0], .to = leaves[1], .bandwidth = 50_GBps, .latency = 1_ns});
  }
  const NetworkParts parts = network_parts(fabric);
  EXPECT_EQ(parts.switches, 2U);
  EXPECT_EQ(parts.ports, 4U + 4U);
  EXPECT_EQ(parts.transceivers, 2U * (4U + 2U));
}

// As in a torus.
TEST(NetworkParts, CountCablesBetweenHosts) {
  Fabric fabric;
  const NodeId a = fabric.add_node({.kind = NodeKind::kNic, .first = 0});
  const NodeId b = fabric.add_node({.kind = NodeKind::kNic, .first = 1});
  fabric.add_duplex({.from = a, .to = b, .bandwidth = 50_GBps, .latency = 1_ns});
  EXPECT_EQ(network_parts(fabric).switches, 0U);
  EXPECT_EQ(network_parts(fabric).ports, 0U);
  EXPECT_EQ(network_parts(fabric).transceivers, 2U);
}

}  // namespace
}  // namespace ringwright::network_parts_test
