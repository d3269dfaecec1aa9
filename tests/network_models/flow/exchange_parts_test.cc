#include "network_models/flow/exchange_parts.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::network_models::exchange_parts_test {
namespace {

using testing::ElementsAre;

std::vector<std::vector<Hop>> paths_over(const std::vector<std::vector<std::uint32_t>>& links) {
  std::vector<std::vector<Hop>> paths;
  for (const std::vector<std::uint32_t>& path : links) {
    paths.emplace_back();
    for (const std::uint32_t link : path) paths.back().push_back({.link = LinkId(link)});
  }
  return paths;
}

TEST(ExchangeParts, MessagesThatShareALinkThroughOthersAreOnePart) {
  EXPECT_THAT(parts_by_links(paths_over({{7, 1}, {5, 2}, {2, 3}, {4}, {3, 7}})), ElementsAre(0, 0, 0, 1, 0));
}

TEST(ExchangeParts, MessagesWithoutLinksAreOnePart) {
  EXPECT_THAT(parts_by_links(paths_over({{1}, {}, {2}, {}})), ElementsAre(0, 1, 2, 1));
}

// Members 0, 1 and 2 send to each other: edges 0 and 1 are those of member 0 to members 1 and 2, and so on.
TEST(ExchangeParts, APartKnowsWhoSendsAndWhoWaits) {
  const RingShape shape(std::vector<RingShape::Member>{
      {.edges = 2, .awaits = {2, 4}}, {.edges = 2, .awaits = {0, 5}}, {.edges = 2, .awaits = {1, 3}}});
  const std::vector<ExchangePart> parts = parts_of(shape, std::vector<std::uint32_t>{0, 1, 0, 1, 1, 1});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_THAT(parts[0].edges, ElementsAre(0, 2));
  EXPECT_THAT(parts[0].senders, ElementsAre(0, 1));
  EXPECT_THAT(parts[0].waiting, ElementsAre(0, 1));
  EXPECT_THAT(parts[0].awaits, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
  EXPECT_THAT(parts[1].edges, ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(parts[1].senders, ElementsAre(0, 1, 2));
  EXPECT_THAT(parts[1].sender_of, ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(parts[1].waiting, ElementsAre(0, 1, 2));
  EXPECT_THAT(parts[1].awaits, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(2, 3, 0, 1)));
}

}  // namespace
}  // namespace ringwright::network_models::exchange_parts_test
