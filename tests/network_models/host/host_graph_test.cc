#include "network_models/host/host_graph.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/cluster_text.h"

namespace ringwright::network_models::host_graph_test {
namespace {

using Path = std::vector<std::uint32_t>;

HostGraph graph_of(const std::string& node) {
  return HostGraph(load_cluster("node: " + node + "\nfabric: {type: none}\n").host);
}

TEST(HostGraph, BytesGoOverNvLinkWhereItConnects) {
  const HostGraph graph = graph_of("{preset: dgx-h100}");
  const Path path = graph.path(2, 5);
  ASSERT_EQ(path.size(), 2U);
  for (const std::uint32_t link : path) EXPECT_TRUE(graph.links()[link].scale_up);
  EXPECT_EQ(graph.links()[path[0]].to, graph.numbers().nvswitch);
}

TEST(HostGraph, PciePathsPassSwitchesAndSocketsOnly) {
  const HostGraph graph = graph_of("{preset: dgx1-v100}");
  for (std::uint32_t from = 0; from < graph.numbers().gpus; ++from) {
    const Path tree = graph.pcie_tree(from);
    for (std::uint32_t to = 0; to < graph.numbers().gpus; ++to) {
      if (from == to) continue;
      const Path path = graph.pcie_path(tree, from, to);
      ASSERT_FALSE(path.empty());
      EXPECT_EQ(graph.links()[path.front()].from, from);
      EXPECT_EQ(graph.links()[path.back()].to, to);
      for (std::size_t hop = 0; hop + 1 < path.size(); ++hop) EXPECT_GT(graph.height(graph.links()[path[hop]].to), 0);
    }
  }
}

TEST(HostGraph, ALinkAndItsReverseAreNeighbours) {
  const HostGraph graph = graph_of("{preset: dgx-h100}");
  for (std::uint32_t link = 0; link < graph.link_count(); link += 2) {
    EXPECT_EQ(graph.links()[link].from, graph.links()[link + 1].to);
    EXPECT_EQ(graph.links()[link].to, graph.links()[link + 1].from);
  }
}

}  // namespace
}  // namespace ringwright::network_models::host_graph_test
