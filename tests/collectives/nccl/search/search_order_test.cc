#include "collectives/nccl/search/search_order.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::search_order_test {
namespace {

std::vector<int> listed(std::span<const int> order) {
  return {order.begin(), order.end()};
}

TEST(NcclOrder, EqualGpusFollowByNumber) {
  const NcclTopology topology(polaris(), {0, 1, 2, 3}, shipped_tables("2.30"), false);
  NcclOrder order(topology);
  EXPECT_EQ(listed(order.after(1, -1)), (std::vector<int>{2, 3, 0}));
  EXPECT_TRUE(order.identical(1, order.after(1, -1)));
}

// One pair has four lanes, the others two.
TEST(NcclOrder, ThickBundlesComeFirst) {
  NcclHost host = mesh_of_four({.lanes = 2});
  host.lanes[2].bandwidth = Bandwidth(100e9);  // 0 to 3
  const NcclTopology topology(host, {0, 1, 2, 3}, shipped_tables("2.30"), false);
  NcclOrder order(topology);
  EXPECT_EQ(listed(order.after(0, -1)), (std::vector<int>{3, 1, 2}));
  EXPECT_FALSE(order.identical(0, order.after(0, -1)));
}

// Two of an A100 host's GPUs are next to a NIC: a path that returns there tries them first.
TEST(NcclOrder, WithTheNetworkAheadItsNeighboursComeFirst) {
  const NcclTopology topology(dgx_a100(), {0, 1, 2, 3, 4, 5, 6, 7}, shipped_tables("2.30"), true);
  NcclOrder order(topology);
  const std::vector<int> after = listed(order.after(0, 4));
  EXPECT_EQ(after[0], 4);
  EXPECT_EQ(after[1], 5);
  EXPECT_EQ(listed(order.after(0, -1)).front(), 1);
}

}  // namespace
}  // namespace ringwright::collectives::search_order_test
