#include "network_models/congestion/flow_spread.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::flow_spread_test {
namespace {

constexpr std::uint32_t kNic = 100;
constexpr std::uint32_t kReceiver = 200;

LinkKind link(std::uint32_t from, std::uint32_t to) {
  return {.role = from == kNic ? LinkRole::kNicPort : LinkRole::kSwitchPort, .from = from, .to = to};
}

// A group of a dragonfly: switch 0 has a global link of its own to switch 3, and one of switch 1, over a local link.
// Both paths end at switch 3; the first one is a hop shorter.
struct UnequalPaths {
  std::vector<LinkKind> kinds = {link(kNic, 0), link(0, 3), link(0, 1), link(1, 2), link(2, 3), link(3, kReceiver)};
  std::vector<Hop> route = {{.link = LinkId(0)},
                            {.link = LinkId(1), .share = 0.25},
                            {.link = LinkId(2), .share = 0.75},
                            {.link = LinkId(3), .share = 0.75},
                            {.link = LinkId(4), .share = 0.75},
                            {.link = LinkId(5)}};
};

const FlowSpread::Hop& over(const FlowSpread& spread, std::uint32_t link) {
  for (const FlowSpread::Hop& hop : spread.hops()) {
    if (hop.link == link) return hop;
  }
  ADD_FAILURE() << "no hop over link " << link;
  return spread[0];
}

TEST(FlowSpread, FollowsPathsOfUnequalLengths) {
  const UnequalPaths paths;
  const FlowSpread spread(paths.route, paths.kinds);
  EXPECT_EQ(over(spread, 0).from, 0U);
  EXPECT_FALSE(over(spread, 0).queues);
  EXPECT_EQ(over(spread, 0).to, over(spread, 1).from);
  EXPECT_EQ(over(spread, 1).from, over(spread, 2).from);
  EXPECT_DOUBLE_EQ(over(spread, 1).fraction, 0.25);
  EXPECT_DOUBLE_EQ(over(spread, 2).fraction, 0.75);
  EXPECT_EQ(over(spread, 2).to, over(spread, 3).from);
  EXPECT_DOUBLE_EQ(over(spread, 3).fraction, 1.0);
  EXPECT_EQ(over(spread, 1).to, over(spread, 4).to);
  EXPECT_EQ(over(spread, 1).to, over(spread, 5).from);
  EXPECT_EQ(over(spread, 5).to, FlowSpread::kEnd);
  EXPECT_EQ(spread.into(over(spread, 5).from).size(), 2U);
}

// The order of hops in the route makes no difference: a folded run may name them in another.
TEST(FlowSpread, DoesNotDependOnTheOrderOfHops) {
  const UnequalPaths paths;
  const std::vector<Hop> shuffled = {paths.route[0], paths.route[3], paths.route[1],
                                     paths.route[5], paths.route[4], paths.route[2]};
  const FlowSpread a(paths.route, paths.kinds);
  const FlowSpread b(shuffled, paths.kinds);
  for (std::uint32_t link = 0; link < paths.kinds.size(); ++link) {
    EXPECT_EQ(over(a, link).from, over(b, link).from) << link;
    EXPECT_EQ(over(a, link).to, over(b, link).to) << link;
    EXPECT_EQ(over(a, link).after, over(b, link).after) << link;
    EXPECT_DOUBLE_EQ(over(a, link).fraction, over(b, link).fraction) << link;
  }
}

// Of the bytes on the long path all meet the full port 3, of the others none.
TEST(FlowSpread, MarksTheBytesOfThePathWithTheFullPort) {
  const UnequalPaths paths;
  const FlowSpread spread(paths.route, paths.kinds);
  const auto full = [&](std::uint32_t hop) { return spread[hop].link == 3 ? 1.0 : 0.0; };
  EXPECT_DOUBLE_EQ(spread.marked(full), 0.75);
  EXPECT_EQ(spread.marked([](std::uint32_t) { return 0.0; }), 0.0);
}

// Over ports 3, 1 and 4 in turn, of a path that comes back to a switch: as tiers in the order of the route.
TEST(FlowSpread, TakesACycleInTheOrderOfTheRoute) {
  const std::vector<LinkKind> kinds = {link(kNic, 0), link(0, 1), link(1, 0), link(0, kReceiver)};
  const std::vector<Hop> route = {{.link = LinkId(0)}, {.link = LinkId(1)}, {.link = LinkId(2)}, {.link = LinkId(3)}};
  const FlowSpread spread(route, kinds);
  for (std::uint32_t hop = 0; hop < 4; ++hop) {
    EXPECT_EQ(spread[hop].link, hop);
    EXPECT_EQ(spread[hop].to, hop < 3 ? hop + 1 : FlowSpread::kEnd);
    EXPECT_EQ(spread[hop].after, 3 - hop);
  }
}

// Hops inside a host that forwards join the link that arrives to the one that leaves.
TEST(FlowSpread, GoesOnThroughAHostThatForwards) {
  std::vector<LinkKind> kinds = {link(kNic, 0), link(0, 7), link(7, 8), link(8, 1), link(1, kReceiver)};
  kinds[2].role = LinkRole::kLossless;
  kinds[3].role = LinkRole::kNicPort;
  std::vector<Hop> route;
  for (std::size_t l = 0; l < kinds.size(); ++l) route.push_back({.link = LinkId(l)});
  const FlowSpread spread(route, kinds);
  ASSERT_EQ(spread.hops().size(), 4U);
  EXPECT_EQ(over(spread, 1).to, over(spread, 3).from);
  EXPECT_TRUE(over(spread, 3).queues) << "another sender's port: others queue there, too";
  EXPECT_FALSE(over(spread, 0).queues);
}

}  // namespace
}  // namespace ringwright::network_models::flow_spread_test
