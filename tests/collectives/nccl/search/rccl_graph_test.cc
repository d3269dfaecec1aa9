#include "collectives/nccl/search/rccl_graph.h"

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::rccl_graph_test {
namespace {

// Eight GPUs, every pair connected: lanes decompose into seven rings (Tillson 1980), and RCCL's rings for the host use
// them all.
NcclHost mesh_of_eight() {
  NcclHost host = mesh_of_four({.nics = 8});
  host.gpus = 8;
  host.lanes.clear();
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) host.lanes.push_back({.a = a, .b = b, .bandwidth = Bandwidth(64e9)});
  }
  host.gpu_at = one_each(8, 1);
  host.nic_at = one_each(8, 1);
  return host;
}

TEST(RcclGraph, RingsUseAllLanesOfAMesh) {
  const NcclTables tables = shipped_tables("rccl");
  const NcclGraphs found = find_rccl_graphs(mesh_of_eight(), {0, 1, 2, 3, 4, 5, 6, 7}, tables, false);
  EXPECT_EQ(found.ring.channels % 7, 0);
  EXPECT_EQ(found.tree.channels, found.ring.channels);
  EXPECT_EQ(found.ring.inside, NcclPath::kNvlink);
}

TEST(RcclGraph, IsWhatGroupsOfRcclFind) {
  const NcclTables tables = shipped_tables("rccl");
  const NcclGraphs found = find_nccl_graphs(mesh_of_eight(), make_block_layout(8, 8), tables);
  EXPECT_EQ(found.ring.channels,
            find_rccl_graphs(mesh_of_eight(), {0, 1, 2, 3, 4, 5, 6, 7}, tables, false).ring.channels);
  EXPECT_TRUE(found.ring.orders.empty());  // RCCL's own orders are not modelled
}

}  // namespace
}  // namespace ringwright::collectives::rccl_graph_test
