#include "collectives/nccl/search/graph_cache.h"

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::graph_cache_test {
namespace {

TEST(GraphCache, AnswersAsTheSearchDoes) {
  NcclGraphCache cache;
  const NcclTables tables = shipped_tables("2.30");
  for (const int per_host : {1, 2, 8}) {
    for (const int hosts : {2, 3, 2}) {
      const GroupLayout layout = make_block_layout(hosts * per_host, per_host);
      const NcclGraphs found = find_nccl_graphs(dgx_h100(), layout, tables);
      const NcclGraphs kept = cache.find(dgx_h100(), layout, tables);
      EXPECT_EQ(kept.ring.orders, found.ring.orders);
      EXPECT_EQ(kept.ring.ports, found.ring.ports);
      EXPECT_EQ(kept.compute_channels, found.compute_channels);
    }
  }
}

// On a single host GPUs use NVLink's whole rate, over several hosts their NICs'.
TEST(GraphCache, SeparatesOneHostFromSeveral) {
  NcclGraphCache cache;
  const NcclTables tables = shipped_tables("2.30");
  EXPECT_EQ(cache.find(dgx_h100(), make_block_layout(8, 8), tables).ring.channels, 12);
  EXPECT_EQ(cache.find(dgx_h100(), make_block_layout(16, 8), tables).ring.channels, 8);
  EXPECT_EQ(cache.find(dgx_h100(), make_block_layout(8, 8), tables).ring.channels, 12);
}

}  // namespace
}  // namespace ringwright::collectives::graph_cache_test
