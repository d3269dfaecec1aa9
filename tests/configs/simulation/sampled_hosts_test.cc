// Fewer hosts of a ring that stand for all of them.
#include "configs/simulation/sampled_hosts.h"

#include <gtest/gtest.h>

namespace ringwright::configs::sampled_hosts_test {
namespace {

// Leaf switches of this many hosts, pods of this many: within a leaf, between leaves of a pod, between pods.
SampledHosts::KindOfPath tree(int leaf, int pod) {
  return [leaf, pod](int from, int to) -> std::uint64_t {
    if (from / leaf == to / leaf) return 1;
    return from / pod == to / pod ? 2 : 3;
  };
}

using Hosts = std::vector<int>;

TEST(SampledHosts, AreTheFirstOfEveryLeafAcrossPods) {
  const SampledHosts samples(64, tree(16, 32));
  EXPECT_EQ(samples.of(8), Hosts({0, 1, 16, 17, 32, 33, 48, 49}));
  EXPECT_TRUE(samples.are_enough(8));
  EXPECT_FALSE(samples.are_enough(4)) << "no path within a leaf";
  EXPECT_EQ(samples.of(6), std::nullopt) << "not as many of each leaf";
}

TEST(SampledHosts, AreTheFirstOnesWhereHostsFollowEachOtherAlike) {
  const SampledHosts samples(64, [](int, int) { return 7; });
  EXPECT_EQ(samples.of(4), Hosts({0, 1, 2, 3}));
  EXPECT_TRUE(samples.are_enough(4));
}

// Every other host has another path within: an odd number of a leaf's hosts would put two equal ones side by side.
TEST(SampledHosts, KeepHostsOfTwoSortsInTurns) {
  const auto path = tree(8, 16);
  const SampledHosts samples(32, [&path](int from, int to) {
    return path(from, to) << 8U | static_cast<std::uint64_t>(from % 2) << 4U | static_cast<std::uint64_t>(to % 2);
  });
  EXPECT_EQ(samples.of(4), std::nullopt);
  EXPECT_EQ(samples.of(8), Hosts({0, 1, 8, 9, 16, 17, 24, 25}));
  EXPECT_FALSE(samples.are_enough(8)) << "two hosts of a leaf have one of its two kinds of paths";
  EXPECT_TRUE(samples.are_enough(12));
}

TEST(SampledHosts, AreNotFoundWhereLeavesDiffer) {
  const SampledHosts samples(8, [](int from, int to) { return static_cast<std::uint64_t>(8 * from + to); });
  EXPECT_EQ(samples.of(4), std::nullopt);
  EXPECT_FALSE(samples.are_enough(8));
}

TEST(SampledHosts, OfAGroupKeepItsRanksInTheirOrder) {
  const GroupLayout layout = make_block_layout(8, 2);
  ASSERT_TRUE(is_alike_on_hosts(layout));
  EXPECT_EQ(on_hosts(layout, {0, 1}), make_block_layout(4, 2));
  EXPECT_EQ(on_hosts(layout, {0, 3}), make_block_layout(4, 2)) << "hosts become 0 and 1";
}

}  // namespace
}  // namespace ringwright::configs::sampled_hosts_test
