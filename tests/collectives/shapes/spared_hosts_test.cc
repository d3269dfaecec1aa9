#include "collectives/shapes/spared_hosts.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::collectives::spared_hosts_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Hosts of four members and NICs, and how many each of these has lost.
GroupLayout layout_of(int hosts, const std::vector<std::pair<int, int>>& lost) {
  GroupLayout layout = make_block_layout(4 * hosts, 4);
  for (const auto& [host, count] : lost) layout.lost_nics.push_back({.host = host, .lost = (1 << count) - 1, .of = 4});
  return layout;
}

TEST(SparedHosts, StayInPlaceWhereRailsSuit) {
  EXPECT_THAT(SparedHosts(layout_of(4, {{1, 1}, {3, 1}})).order(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(SparedHosts(layout_of(4, {{0, 1}})).order(), ElementsAre(0, 1, 2, 3));
}

// Hosts 3 and 0 are neighbours, and host 0 closes the rings of three.
TEST(SparedHosts, AreMovedWhereTheyFollowEachOtherOrCloseOddRings) {
  EXPECT_THAT(SparedHosts(layout_of(4, {{0, 1}, {3, 1}})).order(), ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(SparedHosts(layout_of(3, {{0, 1}})).order(), ElementsAre(1, 0, 2));
}

// 3, 1 and 1 of four NICs: 2/4 of the buffer without host 1, 1/4 without all three.
TEST(SparedHosts, LevelsFollowTheLosses) {
  const SparedHosts spared(layout_of(6, {{1, 3}, {3, 1}, {5, 1}}));
  ASSERT_EQ(spared.levels().size(), 2U);
  EXPECT_EQ(spared.levels()[0].nics, 2);
  EXPECT_THAT(spared.levels()[0].hosts, ElementsAre(0, 2, 3, 4, 5));
  EXPECT_EQ(spared.levels()[1].nics, 1);
  EXPECT_THAT(spared.levels()[1].hosts, ElementsAre(0, 2, 4));
  EXPECT_EQ(spared.first_without(1), 0);
  EXPECT_EQ(spared.first_without(5), 1);
  EXPECT_EQ(spared.passed(0, 2)->host, 1);
  EXPECT_EQ(spared.passed(2, 3), nullptr);
}

// Chains begin at different hosts; in each, every spared host hangs on another one of the last.
TEST(SparedHosts, HangOnTheEndsOfChains) {
  const SparedHosts spared(layout_of(4, {{1, 1}, {3, 1}}));
  ASSERT_EQ(spared.chains(), 2);
  EXPECT_NE(spared.chain_host(0, 0), spared.chain_host(1, 0));
  for (int chain = 0; chain < 2; ++chain) {
    const int last = spared.chain_host(chain, 1);
    EXPECT_THAT(spared.hung_on(chain, last), ElementsAre(1));
    EXPECT_EQ(spared.parent(chain, 1), last);
    EXPECT_EQ(spared.parent(chain, 3), spared.chain_host(chain, 0));
    EXPECT_EQ(spared.delay(chain, 1), 2);
    EXPECT_EQ(spared.delay(chain, 3), 1);
  }
  const SparedHosts one(layout_of(4, {{1, 1}}));
  EXPECT_EQ(one.chains(), 1);
  EXPECT_EQ(one.chain_host(0, 0), 2);
  EXPECT_THAT(one.hung_on(0, 2), IsEmpty());
  EXPECT_EQ(one.parent(0, 1), 0);
}

TEST(SparedHosts, NeedAsManyCompleteOnes) {
  EXPECT_TRUE(can_spare(layout_of(4, {{0, 1}, {1, 1}})));
  EXPECT_FALSE(can_spare(layout_of(3, {{0, 1}, {1, 1}})));
  EXPECT_FALSE(can_spare(layout_of(4, {{0, 4}})));
  EXPECT_FALSE(can_spare(layout_of(4, {})));
}

}  // namespace
}  // namespace ringwright::collectives::spared_hosts_test
