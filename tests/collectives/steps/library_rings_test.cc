// The rings and trees of a library's plan are proved for every kind that they support, in many orders and layouts.
#include "collectives/steps/library_rings.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/nccl/search/ring_orders.h"
#include "collectives/proof/proof.h"
#include "tests/collectives/example_layouts.h"

namespace ringwright::collectives::library_rings_test {
namespace {

constexpr std::array kKinds = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                               CollectiveKind::kBroadcast, CollectiveKind::kReduce};

// The first orders of `size` positions by number, all different.
std::vector<std::vector<int>> orders_of(int size, int count) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> orders;
  for (int i = 0; i < count; ++i) {
    orders.push_back(order);
    std::rotate(order.begin(), order.begin() + 1, order.end());
    std::next_permutation(order.begin(), order.end());
  }
  return orders;
}

// One kind of host, each order by the GPUs' own NICs.
std::vector<std::vector<HostPath>> paths_of(const std::vector<std::vector<int>>& orders) {
  std::vector<std::vector<HostPath>> paths(1);
  for (const std::vector<int>& order : orders) paths.front().push_back({.order = order});
  return paths;
}

// With its own orders where hosts are identical, and without.
std::vector<CollectivePlan> plans_of(const GroupLayout& layout) {
  std::vector<CollectivePlan> plans;
  for (const int channels : {1, 2, 3, 7}) {
    plans.push_back({.algorithm = "ring", .channels = channels});
    if (!layout.even()) continue;
    plans.push_back(
        {.algorithm = "ring", .channels = channels, .paths = paths_of(orders_of(layout.largest_host, channels))});
  }
  return plans;
}

void expect_proof(const CollectiveAlgorithm& algorithm, const GroupLayout& layout) {
  for (const CollectiveKind kind : kKinds) {
    for (const Bytes bytes : {Bytes(1), Bytes(300'007), Bytes(4'000'000)}) {
      const CollectiveCall call{.kind = kind,
                                .bytes = bytes,
                                .layout = &layout,
                                .dimension = DimensionId(0),
                                .root = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce
                                            ? layout.size() / 2
                                            : 0};
      if (!algorithm.supports(call)) continue;
      const Proof proof = prove(algorithm, call);
      ASSERT_TRUE(proof.holds()) << describe(algorithm, call) << ": " << proof.violation;
    }
  }
}

TEST(LibraryRings, AreProvedInEveryOrder) {
  for (const int ranks : {2, 3, 4, 6, 8, 12}) {
    for (const int per_host : {1, 2, 3, 4, 8}) {
      if (per_host > ranks) continue;
      const GroupLayout layout = make_block_layout(ranks, per_host);
      for (const CollectivePlan& plan : plans_of(layout)) {
        expect_proof(*make_library_rings(plan), layout);
        LibraryAlgorithms library;  // whose rings know the layout, and have tables of it
        expect_proof(library.rings(plan, layout), layout);
      }
    }
    const GroupLayout dealt = dealt_layout(ranks, 2);
    for (const CollectivePlan& plan : plans_of(dealt)) expect_proof(*make_library_rings(plan), dealt);
  }
}

TEST(LibraryTrees, AreProvedInEveryOrder) {
  for (const int ranks : {2, 3, 4, 6, 8, 12}) {
    for (const int per_host : {1, 2, 3, 4, 8}) {
      if (per_host > ranks) continue;
      const GroupLayout layout = make_block_layout(ranks, per_host);
      for (const CollectivePlan& plan : plans_of(layout)) expect_proof(*make_library_trees(plan), layout);
    }
  }
}

// Eight GPUs, one lane between every two: seven rings, each on its own lanes, send S / (7 n) per step on every lane.
TEST(LibraryRings, UseEveryLaneOfAFullMeshOnce) {
  NcclHost host{.gpus = 8, .links = NcclHost::Links::kMesh};
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) host.lanes.push_back({.a = a, .b = b, .bandwidth = Bandwidth(64e9)});
  }
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectivePlan plan{.algorithm = "ring", .channels = 7, .paths = paths_of(find_ring_orders(host, layout, 7))};
  const auto rings = make_library_rings(plan);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(56'000), .layout = &layout};
  CollectiveStep step;
  for (int member = 0; member < 8; ++member) {
    rings->step(call, member, 3, step);
    ASSERT_EQ(step.sends.size(), 7U);
    for (const CollectiveSend& send : step.sends) EXPECT_EQ(send.size, Bytes(1'000));
  }
  EXPECT_EQ(rings->steps(call), 14);
}

TEST(LibraryRings, OfWhichEachStandsForAsManyChannelsAreListedOnce) {
  const GroupLayout layout = make_block_layout(4, 4);
  const std::vector<std::vector<int>> orders = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 3}, {0, 2, 1, 3}};
  const CollectivePlan four{.algorithm = "ring", .channels = 8, .paths = paths_of(orders)};
  EXPECT_EQ(distinct_orders(four, layout).channels, 2);
  const CollectivePlan three{.algorithm = "ring", .channels = 3, .paths = paths_of(orders)};
  EXPECT_EQ(distinct_orders(three, layout).channels, 3);  // the first order carries two thirds
}

}  // namespace
}  // namespace ringwright::collectives::library_rings_test
