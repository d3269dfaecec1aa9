#include "network_models/solver/path_table.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::path_table_test {
namespace {

std::vector<Hop> over(std::initializer_list<int> links) {
  std::vector<Hop> route;
  for (const int link : links) route.push_back({.link = LinkId(link)});
  return route;
}

class Paths : public testing::Test {
 protected:
  void enter(FlowSlot flow, std::initializer_list<int> links) {
    table.place(flow, over(links));
    table.enter(flow);
  }
  [[nodiscard]] std::vector<std::uint32_t> take_touched() {
    std::vector<std::uint32_t> touched;
    table.take_touched([&touched](std::uint32_t link) { touched.push_back(link); });
    return touched;
  }

  static constexpr std::array kCapacities = {Bandwidth(10.0), Bandwidth(10.0), Bandwidth(10.0)};
  PathTable table{kCapacities};
};

TEST_F(Paths, FlowsOfOneRouteAreOnePath) {
  enter(0, {0, 1});
  enter(1, {0, 1});
  enter(2, {0, 2});
  EXPECT_EQ(table.flow_count(), 3U);
  EXPECT_EQ(table.path_count(), 2U);
  EXPECT_EQ(table.flow(0).path, table.flow(1).path);
  EXPECT_DOUBLE_EQ(table.path(table.flow(0).path).weight, 2.0);
  EXPECT_EQ(table.members_of(table.link(0)).size(), 2U);
  EXPECT_EQ(table.members_of(table.link(1)).size(), 1U);
}

TEST_F(Paths, AShareDistinguishesRoutes) {
  enter(0, {0, 1});
  std::vector<Hop> half = over({0, 1});
  half.back().share = 0.5;
  table.place(1, half);
  table.enter(1);
  EXPECT_EQ(table.path_count(), 2U);
}

TEST_F(Paths, ThePathGoesWithItsLastFlowWhenASolveBegins) {
  enter(0, {0, 1});
  enter(1, {0, 1});
  table.leave(0);
  table.remove_empty_paths();
  EXPECT_EQ(table.path_count(), 1U);
  EXPECT_DOUBLE_EQ(table.path(table.flow(1).path).weight, 1.0);
  table.leave(1);
  EXPECT_EQ(table.path_count(), 1U);
  EXPECT_EQ(table.count_in_use(table.link(0), 2), 0U);
  table.remove_empty_paths();
  EXPECT_EQ(table.path_count(), 0U);
  EXPECT_EQ(table.members_of(table.link(0)).size(), 0U);
}

// Members move into the gaps of others, and blocks grow: each still stands at its place.
TEST_F(Paths, MembersKnowTheirPlaces) {
  for (FlowSlot flow = 0; flow < 9; ++flow) {
    std::vector<Hop> route = over({0, 1});
    route.front().share = 1.0 / (1.0 + flow);
    table.place(flow, route);
    table.enter(flow);
  }
  for (const FlowSlot gone : {0U, 8U, 3U}) table.leave(gone);
  table.remove_empty_paths();
  for (const std::uint32_t link : {0U, 1U}) {
    const auto members = table.members_of(table.link(link));
    ASSERT_EQ(members.size(), 6U);
    for (std::uint32_t place = 0; place < members.size(); ++place) {
      const LinkShare& hop = table.links_of(table.path(members[place].path))[link];
      EXPECT_EQ(hop.place, place);
      EXPECT_DOUBLE_EQ(hop.share, members[place].share);
    }
  }
}

TEST_F(Paths, AChangeTouchesItsLinksOnce) {
  enter(0, {0, 1});
  enter(1, {0, 1});
  EXPECT_EQ(take_touched(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(take_touched(), std::vector<std::uint32_t>{});
  table.set_capacity(LinkId(2), Bandwidth(5.0));
  EXPECT_EQ(take_touched(), std::vector<std::uint32_t>{2});
  EXPECT_DOUBLE_EQ(table.link(2).capacity, 5.0);
}

TEST_F(Paths, AFlowThatReplacesAnotherTouchesNoLink) {
  enter(0, {0, 1});
  const PathSlot path = table.flow(0).path;
  table.take_changed_paths();
  EXPECT_EQ(take_touched(), (std::vector<std::uint32_t>{0, 1}));
  table.leave(0);
  enter(1, {0, 1});
  EXPECT_EQ(table.flow(1).path, path);
  EXPECT_FALSE(table.path(path).has_changed());
  table.take_changed_paths();
  EXPECT_EQ(take_touched(), std::vector<std::uint32_t>{});
  enter(2, {0, 1});
  table.take_changed_paths();
  EXPECT_EQ(take_touched(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(LooseLinks, AreThoseWhosePathsAllCrossATighterLink) {
  PathTable table(std::array{Bandwidth(50.0), Bandwidth(64.0), Bandwidth(64.0), Bandwidth(450.0)});
  const auto enter = [&table](FlowSlot flow, const std::vector<Hop>& route) {
    table.place(flow, route);
    table.enter(flow);
  };
  enter(0, over({3, 1, 0, 2}));
  EXPECT_FALSE(table.link(0).is_loose());
  EXPECT_TRUE(table.link(1).is_loose());
  EXPECT_TRUE(table.link(2).is_loose());
  EXPECT_TRUE(table.link(3).is_loose());
  enter(1, over({3, 1}));  // link 1 is on all paths of link 3
  EXPECT_FALSE(table.link(1).is_loose());
  EXPECT_TRUE(table.link(2).is_loose());
  EXPECT_TRUE(table.link(3).is_loose());
  table.leave(1);
  EXPECT_FALSE(table.link(1).is_loose()) << "once firm, always firm";
  std::vector<Hop> half = over({0, 2});
  half.front().share = 0.5;
  enter(2, half);  // at 64 on link 2 it takes 32 of link 0
  EXPECT_FALSE(table.link(2).is_loose());
  table.set_capacity(LinkId(1), Bandwidth(1000.0));
  EXPECT_FALSE(table.link(3).is_loose());
}

}  // namespace
}  // namespace ringwright::network_models::path_table_test
