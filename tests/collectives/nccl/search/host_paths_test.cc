// Channels of graphs in plans: orders by position, NICs by number, kinds of hosts.
#include "collectives/nccl/search/host_paths.h"

#include <gtest/gtest.h>

#include "collectives/nccl/tables/tables.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::host_paths_test {
namespace {

HostPaths rings(const NcclHost& host, const GroupLayout& layout, int channels) {
  const NcclGraphs graphs = find_nccl_graphs(host, layout, setup_of(host).tables);
  return host_paths(host, graphs, NcclAlgorithm::kRing, layout, channels);
}

// NCCL_CROSS_NIC=0. On DGX H100 NIC n is next to GPU n: the last GPU sends through that GPU, unless it is that GPU
// itself.
TEST(HostPaths, ComeAndGoByOneNicThatMayNotBeCrossed) {
  NcclHost host = dgx_h100();
  host.cross_nic = 0;
  const HostPaths found = rings(host, make_block_layout(16, 8), 16);
  ASSERT_EQ(found.paths.size(), 1U);
  EXPECT_TRUE(found.kind_of_host.empty());
  ASSERT_EQ(found.paths[0].size(), 8U);  // 16 channels, each path twice
  for (const HostPath& path : found.paths[0]) {
    EXPECT_EQ(path.in, path.order.front());
    EXPECT_EQ(path.out, path.in);
    EXPECT_EQ(path.relay, path.in);
  }
}

TEST(HostPaths, GoOverPcieWithoutPxn) {
  NcclHost host = dgx_h100();
  host.cross_nic = 0;
  host.pxn = false;
  const HostPaths found = rings(host, make_block_layout(16, 8), 16);
  ASSERT_EQ(found.paths.size(), 1U);
  for (const HostPath& path : found.paths[0]) {
    EXPECT_EQ(path.out, path.in);
    EXPECT_EQ(path.relay, -1);
  }
}

// NCCL_CROSS_NIC=2: channel 0 enters by NIC 0 and leaves by NIC 1; on the next host it enters by 1 and leaves by 0.
TEST(HostPaths, SwapNicsOnEverySecondHost) {
  const HostPaths found = rings(dgx_h100(), make_block_layout(32, 8), 16);
  ASSERT_EQ(found.paths.size(), 2U);
  EXPECT_EQ(found.kind_of_host, (std::vector<int>{0, 1, 0, 1}));
  for (std::size_t kind = 0; kind < found.paths[0].size(); ++kind) {
    EXPECT_NE(found.paths[0][kind].in, found.paths[0][kind].out);
    EXPECT_EQ(found.paths[0][kind].out, found.paths[1][kind].in);
    EXPECT_EQ(found.paths[1][kind].out, found.paths[0][kind].in);
  }
}

// Eight members on one host and GPUs 4 to 7 on the other, listed backwards: each host has its own path.
TEST(HostPaths, AreThoseOfEachHostsMembers) {
  const GroupLayout layout =
      make_group_layout({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4});
  NcclHost host = dgx_h100();
  host.cross_nic = 0;
  const HostPaths found = rings(host, layout, 8);
  ASSERT_EQ(found.paths.size(), 2U);
  EXPECT_EQ(found.paths[0].size(), found.paths[1].size());
  EXPECT_EQ(found.paths[0].front().order.size(), 8U);
  for (const HostPath& path : found.paths[1]) {
    ASSERT_EQ(path.order.size(), 4U);
    EXPECT_EQ(path.in, 7 - path.order.front());  // position p is GPU 7 - p
  }
}

// Two ports per NIC, each a NIC to NCCL: paths name the host's NIC.
TEST(HostPaths, NameTheNicOfAPort) {
  NcclHost host = dgx_h100();
  host.cross_nic = 0;
  host.nics = 16;
  host.ports = 2;
  host.nic = Bandwidth(25e9);
  host.nic_at = one_each(16, 8);
  const HostPaths found = rings(host, make_block_layout(16, 8), 16);
  ASSERT_EQ(found.paths.size(), 1U);
  for (const HostPath& path : found.paths[0]) {
    EXPECT_LT(path.out, 8);
    EXPECT_EQ(path.in, path.order.front());
  }
}

TEST(HostPaths, AreNotKnownForPairs) {
  const GroupLayout layout = make_block_layout(16, 8);
  const NcclGraphs graphs = find_nccl_graphs(dgx_h100(), layout, setup_of(dgx_h100()).tables);
  EXPECT_TRUE(host_paths(dgx_h100(), graphs, NcclAlgorithm::kNvlsTree, layout, 16).paths.empty());
}

}  // namespace
}  // namespace ringwright::collectives::host_paths_test
