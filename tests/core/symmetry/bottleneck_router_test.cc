#include "core/symmetry/bottleneck_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::bottleneck_router_test {
namespace {

using namespace ringwright::literals;

// Links of 4, 1, 4, 2 GB/s. Rank 0 sends over the first two, rank 1 over the last two, each half of it over the last.
class FourLinks final : public Router {
 public:
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    if (query.from == RankId(0)) {
      hops = {{.link = LinkId(0)}, {.link = LinkId(1)}};
      return 3_us;
    }
    hops = {{.link = LinkId(2)}, {.link = LinkId(3), .share = 0.25}};
    return 5_us;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_ = {4_GBps, 1_GBps, 4_GBps, 2_GBps};
};

TEST(BottleneckRouter, ItsLinksAreTheDifferentCapacities) {
  const FourLinks router;
  EXPECT_THAT(make_bottleneck_router(router)->capacities(), testing::ElementsAre(4_GBps, 1_GBps, 2_GBps));
}

TEST(BottleneckRouter, APathIsItsLatencyAndItsNarrowestHop) {
  const FourLinks router;
  const auto narrow = make_bottleneck_router(router);
  std::vector<Hop> hops;
  EXPECT_EQ(narrow->route({.from = RankId(0), .to = RankId(1)}, hops), 3_us);
  ASSERT_EQ(hops.size(), 1U);
  EXPECT_EQ(narrow->capacities()[hops[0].link.index()], 1_GBps);
}

// A quarter of the flow over 2 GB/s would let 8 GB/s through: the whole of it over 4 GB/s is the limit.
TEST(BottleneckRouter, AHopThatCarriesAShareIsAsMuchWider) {
  const FourLinks router;
  const auto narrow = make_bottleneck_router(router);
  std::vector<Hop> hops;
  EXPECT_EQ(narrow->route({.from = RankId(1), .to = RankId(0)}, hops), 5_us);
  ASSERT_EQ(hops.size(), 1U);
  EXPECT_EQ(narrow->capacities()[hops[0].link.index()], 4_GBps);
  EXPECT_DOUBLE_EQ(hops[0].share, 1.0);
}

}  // namespace
}  // namespace ringwright::bottleneck_router_test
