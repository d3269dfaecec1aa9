#include "collectives/nccl/search/ring_orders.h"

#include <algorithm>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::collectives::ring_orders_test {
namespace {

using namespace ringwright::literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

[[nodiscard]] NcclHost mesh_of(int gpus, const std::vector<NcclHost::Lanes>& lanes) {
  return {.gpus = gpus, .links = NcclHost::Links::kMesh, .lanes = lanes};
}

[[nodiscard]] NcclHost full_mesh(int gpus) {
  std::vector<NcclHost::Lanes> lanes;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) lanes.push_back({.a = a, .b = b, .bandwidth = 25_GBps});
  }
  return mesh_of(gpus, lanes);
}

// How many rings use each pair, by direction.
[[nodiscard]] std::map<std::pair<int, int>, int> loads(const std::vector<std::vector<int>>& ring_orders, bool closed) {
  std::map<std::pair<int, int>, int> count;
  for (const std::vector<int>& ring_order : ring_orders) {
    for (std::size_t i = 0; i + 1 < ring_order.size(); ++i) ++count[{ring_order[i], ring_order[i + 1]}];
    if (closed) ++count[{ring_order.back(), ring_order.front()}];
  }
  return count;
}

TEST(RingOrders, OfFourGpusLoadAllPairsEqually) {
  // A ring uses 4 of the 12 directed pairs, so six rings use each pair twice.
  const auto ring_orders = find_ring_orders(full_mesh(4), make_block_layout(4, 4), 6);
  ASSERT_THAT(ring_orders, SizeIs(6));
  const auto used = loads(ring_orders, true);
  EXPECT_THAT(used, SizeIs(12));
  for (const auto& [pair, count] : used) EXPECT_EQ(count, 2) << pair.first << " to " << pair.second;
}

TEST(RingOrders, OfEightGpusUseEveryPairEqually) {
  // A ring uses 8 of the 56 directed pairs: seven use each once (Tillson 1980), fourteen twice.
  const auto used = loads(find_ring_orders(full_mesh(8), make_block_layout(8, 8), 14), true);
  EXPECT_THAT(used, SizeIs(56));
  for (const auto& [pair, count] : used) EXPECT_EQ(count, 2) << pair.first << " to " << pair.second;
}

TEST(RingOrders, OfAHybridCubeUseEveryLaneOnce) {
  // DGX-1 with V100: six lanes per GPU, one or two per pair; six rings use all lanes of a GPU.
  struct Pair {
    int a, b, lanes;
  };
  constexpr Pair kPairs[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                             {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  std::vector<NcclHost::Lanes> lanes;
  for (const Pair& pair : kPairs)
    lanes.push_back({.a = pair.a, .b = pair.b, .bandwidth = 25_GBps * static_cast<double>(pair.lanes)});
  const auto used = loads(find_ring_orders(mesh_of(8, lanes), make_block_layout(8, 8), 6), true);
  for (const Pair& pair : kPairs) {
    EXPECT_EQ(used.at({pair.a, pair.b}), pair.lanes);
    EXPECT_EQ(used.at({pair.b, pair.a}), pair.lanes);
  }
}

TEST(RingOrders, PassEveryGpuOnce) {
  for (std::vector<int> ring_order : find_ring_orders(full_mesh(6), make_block_layout(6, 6), 5)) {
    std::ranges::sort(ring_order);
    EXPECT_EQ(ring_order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  }
}

TEST(RingOrders, UseOnlyConnectedPairs) {
  // A square without diagonals: one ring and its reverse.
  const NcclHost square = mesh_of(4, {{0, 1, 25_GBps}, {1, 2, 25_GBps}, {2, 3, 25_GBps}, {3, 0, 25_GBps}});
  const auto used = loads(find_ring_orders(square, make_block_layout(4, 4), 2), true);
  EXPECT_THAT(used, SizeIs(8));
  EXPECT_FALSE(used.contains({0, 2}));
}

TEST(RingOrders, BetweenHostsEnterNextToEveryNicAlternately) {
  const auto routes = find_ring_orders(full_mesh(4), make_block_layout(8, 4), 4);
  ASSERT_THAT(routes, SizeIs(4));
  for (int kind = 0; kind < 4; ++kind) EXPECT_EQ(routes[static_cast<std::size_t>(kind)].front(), kind);
}

TEST(RingOrders, AreNotNeededWhereEveryRouteIsAsGood) {
  EXPECT_THAT(find_ring_orders({.gpus = 8, .links = NcclHost::Links::kSwitch}, make_block_layout(8, 8), 4), IsEmpty());
  EXPECT_THAT(find_ring_orders(full_mesh(4), make_block_layout(2, 2), 4), IsEmpty());
}

TEST(RingOrders, AreNoneWhereNoRouteLeadsThroughAll) {
  const NcclHost star = mesh_of(4, {{0, 1, 25_GBps}, {0, 2, 25_GBps}, {0, 3, 25_GBps}});
  EXPECT_THAT(find_ring_orders(star, make_block_layout(4, 4), 4), IsEmpty());
}

}  // namespace
}  // namespace ringwright::collectives::ring_orders_test
