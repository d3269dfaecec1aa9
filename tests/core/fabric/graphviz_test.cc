#include "core/fabric/graphviz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::graphviz_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;
using testing::Not;

// `hosts` hosts of one GPU each, two to a leaf, two cables from each leaf to one spine.
Fabric small_tree(int hosts) {
  Fabric fabric;
  for (int host = 0; host < hosts; ++host)
    fabric.add_gpu(fabric.add_node({.kind = NodeKind::kGpu, .first = host, .second = 0}));
  const NodeId spine = fabric.add_node({.kind = NodeKind::kSpine, .first = 0});
  for (int leaf = 0; leaf < hosts / 2; ++leaf) {
    const NodeId node = fabric.add_node({.kind = NodeKind::kLeaf, .first = leaf});
    for (int place = 0; place < 2; ++place) {
      fabric.add_duplex({.from = fabric.gpus()[static_cast<std::size_t>(2 * leaf + place)],
                         .to = node,
                         .bandwidth = 50_GBps,
                         .latency = 1_us});
      fabric.add_duplex({.from = node, .to = spine, .bandwidth = 50_GBps, .latency = 1_us});
    }
  }
  return fabric;
}

TEST(Graphviz, DrawsOneEdgeForParallelLinks) {
  const std::string text = graphviz(small_tree(2));
  EXPECT_EQ(text,
            "graph fabric {\n"
            "  rankdir=BT;\n"
            "  node [fontsize=10];\n"
            "  n0 [label=\"host0/gpu0\", shape=box];\n"
            "  n1 [label=\"host1/gpu0\", shape=box];\n"
            "  n2 [label=\"spine0\", shape=ellipse];\n"
            "  n3 [label=\"leaf0\", shape=ellipse];\n"
            "  n0 -- n3 [label=\"50 GB/s\"];\n"
            "  n1 -- n3 [label=\"50 GB/s\"];\n"
            "  n2 -- n3 [label=\"2 x 50 GB/s\"];\n"
            "}\n");
}

TEST(Graphviz, DrawsTheFirstHostsAndTheirSwitchesOfALargeFabricWithANote) {
  const std::string text = graphviz(small_tree(100), {.max_nodes = 50, .hosts_of_part = 3});
  EXPECT_THAT(text, HasSubstr("\"host2/gpu0\""));
  EXPECT_THAT(text, Not(HasSubstr("\"host3/gpu0\"")));
  EXPECT_THAT(text, HasSubstr("\"leaf1\""));
  EXPECT_THAT(text, Not(HasSubstr("\"leaf2\"")));
  EXPECT_THAT(text, HasSubstr("\"spine0\""));
  // 3 GPUs, 2 leaves, 1 spine of 100 + 50 + 1 nodes.
  EXPECT_THAT(text, HasSubstr("label=\"6 of 151 nodes: the first 3 hosts and the switches above them\""));
}

TEST(Graphviz, DrawsLinksOfOneDirection) {
  Fabric fabric;
  const NodeId a = fabric.add_named_node(NodeKind::kSwitch, "a");
  const NodeId b = fabric.add_named_node(NodeKind::kSwitch, "b");
  fabric.add_link({.from = b, .to = a, .bandwidth = 25_GBps, .latency = 1_us});
  EXPECT_THAT(graphviz(fabric), HasSubstr("n0 -- n1 [label=\"25 GB/s\"]"));
}

}  // namespace
}  // namespace ringwright::graphviz_test
