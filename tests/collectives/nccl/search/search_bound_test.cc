// Skipped searches would not have found anything.
#include "collectives/nccl/search/search_bound.h"

#include <vector>

#include <gtest/gtest.h>

#include "collectives/nccl/search/search.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::search_bound_test {
namespace {

TEST(SearchBound, NoSearchThatIsLeftOutWouldHaveFoundAnything) {
  const NcclTables tables = shipped_tables("2.23");
  int left_out = 0;
  for (const NcclHost& host : {alps(), polaris(), dgx_a100()}) {
    for (const bool network : {false, true}) {
      const NcclTopology topology(host, {0, 1, 2, 3}, tables, network);
      NcclSearch search(topology);
      for (const NcclPattern pattern : {NcclPattern::kRing, NcclPattern::kBalancedTree, NcclPattern::kTree}) {
        for (const int speed : {48'000, 24'000, 12'000, 6'000}) {
          for (const NcclPath worst : {NcclPath::kPix, NcclPath::kPhb, NcclPath::kSys}) {
            for (const int cross_nic : {0, 1, 2}) {
              const NcclChannels trial{.pattern = pattern,
                                       .cross_nic = cross_nic,
                                       .least = 2,
                                       .most = 8,
                                       .inside = speed,
                                       .between = speed,
                                       .type_between = worst,
                                       .same = false};
              NcclChannels none = trial;
              if (!is_hopeless(topology, trial, none)) continue;
              ++left_out;
              search.run(trial, 1 << 14, none);
              EXPECT_EQ(none.count, 0) << static_cast<int>(pattern) << " " << speed << " " << static_cast<int>(worst);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(left_out, 50);
}

// One ring per NIC at 24 GB/s cannot be improved by more, slower rings, nor by equally many with other options.
TEST(SearchBound, WhatIsFullCannotBeBeaten) {
  const NcclTopology topology(dgx_a100(), {0, 1, 2, 3, 4, 5, 6, 7}, shipped_tables("2.30"), true);
  NcclChannels best{.least = 1, .most = 16, .inside = 24'000, .between = 24'000, .same = false};
  NcclSearch(topology).run(best, 1 << 14, best);
  ASSERT_EQ(best.count, 8);
  NcclChannels slower = best;
  slower.inside = slower.between = 12'000;
  EXPECT_TRUE(is_hopeless(topology, slower, best));
  NcclChannels crossing = best;
  crossing.cross_nic = 2;
  EXPECT_TRUE(is_hopeless(topology, crossing, best));
}

}  // namespace
}  // namespace ringwright::collectives::search_bound_test
