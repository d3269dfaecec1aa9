// Tables on hosts, and parts of their rows.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/recommendation/host_placement.h"

namespace ringwright::workload::host_placement_test {
namespace {

using testing::ElementsAre;

HostTables tables(std::int64_t count, double pooling, bool may_split = true) {
  return {.count = count, .columns = 1.0, .pooling = pooling, .bytes = 100.0, .may_split = may_split};
}

HostPlacementRules rules(std::int64_t hosts, double exchange_cost = 0.0, double room = 1e9) {
  return {.hosts = hosts, .exchange_cost = exchange_cost, .room = room};
}

// Longest first: 7 alone, 4 and 3 together.
TEST(HostPlacement, PlacesTheCostliestFirst) {
  const std::vector<HostTables> all{tables(1, 3.0, false), tables(1, 7.0, false), tables(1, 4.0, false)};
  const HostPlacement placement = place_on_hosts(all, rules(2));
  EXPECT_THAT(placement.parts_of_table, ElementsAre(1, 1, 1));
  EXPECT_THAT(placement.parts_on_host[0], ElementsAre(0, 1, 0));
  EXPECT_THAT(placement.parts_on_host[1], ElementsAre(1, 0, 1));
}

// One table of 100 lookups among 4 hosts, the others of 10 in all: in 4 parts every host has 25 and about 2.5.
TEST(HostPlacement, SplitsTheHottestTableInPowersOfTwo) {
  const std::vector<HostTables> all{tables(1, 100.0), tables(4, 2.5)};
  const HostPlacement placement = place_on_hosts(all, rules(4));
  EXPECT_THAT(placement.parts_of_table, ElementsAre(4, 1));
  EXPECT_THAT(placement.cost_of_host, ElementsAre(27.5, 27.5, 27.5, 27.5));
}

// Each part costs its exchange: 16 / 2 + 10 is less than 16 + 10, but 2 hosts with 2 parts each would have 36.
TEST(HostPlacement, AnExpensiveExchangeLeavesTablesWhole) {
  const std::vector<HostTables> all{tables(2, 16.0)};
  EXPECT_THAT(place_on_hosts(all, rules(2)).parts_of_table, ElementsAre(1));
  EXPECT_THAT(place_on_hosts(all, rules(4, 10.0)).parts_of_table, ElementsAre(2));
  EXPECT_THAT(place_on_hosts(all, rules(3, 10.0)).parts_of_table, ElementsAre(1));
}

// A table of 100 bytes where a host has room for 60.
TEST(HostPlacement, SplitsWhatHasNoRoom) {
  EXPECT_THAT(place_on_hosts({tables(1, 1.0)}, rules(4, 1.0, 60.0)).parts_of_table, ElementsAre(4));
  EXPECT_THAT(place_on_hosts({tables(1, 1.0, false)}, rules(4, 1.0, 60.0)).parts_of_table, ElementsAre(1));
}

// Parts of one table are on different hosts, and all are somewhere.
TEST(HostPlacement, EveryPartIsOnAHostOfItsOwn) {
  for (std::int64_t hosts = 1; hosts <= 9; ++hosts) {
    const std::vector<HostTables> all{tables(3, 50.0), tables(2, 7.0), tables(5, 1.0)};
    const HostPlacement placement = place_on_hosts(all, rules(hosts, 3.0));
    for (std::size_t entry = 0; entry < all.size(); ++entry) {
      std::int64_t parts = 0;
      for (const auto& own : placement.parts_on_host) {
        EXPECT_LE(own[entry], all[entry].count);
        parts += own[entry];
      }
      EXPECT_EQ(parts, all[entry].count * placement.parts_of_table[entry]) << hosts << " " << entry;
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::host_placement_test
