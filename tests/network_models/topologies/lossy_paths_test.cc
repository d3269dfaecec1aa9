// How often packets are sent on links that lose some, and what that loads.
#include "network_models/topologies/lossy_paths.h"

#include <vector>

#include <gtest/gtest.h>

#include "network_models/topologies/faulty_router.h"
#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::lossy_paths_test {
namespace {

using namespace ringwright::literals;

// Schwartz 1987: with a = 1, stop and wait, both send 1 / (1 - p) times. With a = 101 and p = 1 %, (1 + 100 x 0.01) /
// 0.99 = 2.0202.
TEST(Transmissions, FollowTheTextbook) {
  EXPECT_DOUBLE_EQ(transmissions({.loss = 0.0, .in_flight = 50.0}), 1.0);
  EXPECT_DOUBLE_EQ(transmissions({.loss = 0.2, .in_flight = 1.0}), 1.25);
  EXPECT_NEAR(transmissions({.loss = 0.01, .in_flight = 101.0}), 2.020202, 1e-6);
  EXPECT_DOUBLE_EQ(
      transmissions({.loss = 0.2, .in_flight = 101.0, .retransmission = Retransmission::kSelective}), 1.25);
}

// Go-back-N by counting: each packet in turn, lost every tenth time; all in flight behind a lost one are sent again.
TEST(Transmissions, AreTheSumOverTheNumberOfLosses) {
  constexpr double kLoss = 0.1;
  constexpr double kInFlight = 8.0;
  double expected = 1.0;  // the time that succeeds
  double chance = 1.0 - kLoss;
  for (int losses = 0; losses < 200; ++losses) {
    if (losses > 0) expected += chance * losses * kInFlight;
    chance *= kLoss;
  }
  EXPECT_NEAR(transmissions({.loss = kLoss, .in_flight = kInFlight}), expected, 1e-12);
}

struct Setting {
  Host host = simple_host(2, 2);
  ClosShape shape = derive_clos(rail_order(8, 2, 4), host, 16).shape;
  Network network = build_clos({.host = host, .shape = shape, .routing = {}});
};

std::vector<Hop> hops_over(const Setting& setting, const FaultSchedule& schedule, std::uint32_t epoch,
                           const RouteQuery& query) {
  FaultPaths paths;
  paths.lossy.emplace(setting.network.fabric, setting.host);
  const FaultyRouter router(*setting.network.router, schedule, epoch, &paths);
  std::vector<Hop> hops;
  router.route(query, hops);
  return hops;
}

// The links between NICs carry each packet as often as it is sent; the host's own links once.
TEST(LossyPaths, LoadTheNetworkAndNotTheHost) {
  const Setting setting;
  const std::vector<Hop> healthy = hops_of(setting.network, between(0, 31));
  const LinkId lossy = healthy[healthy.size() / 2].link;
  const FaultSchedule schedule(std::vector<LinkFault>{{.link = lossy, .at = TimePoint(1_ms), .until = TimePoint(2_ms),
                                                       .factor = 1.0, .loss = 0.001}},
                               setting.network.fabric.link_count());
  ASSERT_EQ(schedule.moments().size(), 2U);
  const std::vector<Hop> hops = hops_over(setting, schedule, schedule.moments()[0].epoch, between(0, 31));
  std::vector<Hop> scratch;
  const double round_trip = 2.0 * to_seconds(setting.network.router->route(between(0, 31), scratch));
  const double times = transmissions({.loss = 0.001, .in_flight = 1.0 + round_trip * 50e9 / 4096.0});
  EXPECT_GT(times, 1.05);  // a packet of 4 KiB takes 82 ns, the round trip some microseconds
  ASSERT_EQ(hops.size(), healthy.size());
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const LinkSpec& link = setting.network.fabric.link(hops[i].link);
    const auto in_host = [&](NodeId node) {
      const NodeKind kind = setting.network.fabric.node(node).kind;
      return kind != NodeKind::kLeaf && kind != NodeKind::kSpine;
    };
    EXPECT_DOUBLE_EQ(hops[i].share, in_host(link.from) && in_host(link.to) ? 1.0 : times) << i;
  }
  // Afterwards, and on other paths, nothing is sent twice.
  EXPECT_EQ(schedule.moments()[1].epoch, 0U);
  for (const Hop& hop : hops_over(setting, schedule, 1, between(2, 4))) EXPECT_DOUBLE_EQ(hop.share, 1.0);
}

TEST(LossyPaths, TwoLossesOnAPathAreIndependent) {
  const Setting setting;
  const std::vector<Hop> healthy = hops_of(setting.network, between(0, 31));
  const std::size_t middle = healthy.size() / 2;
  const std::size_t links = setting.network.fabric.link_count();
  const auto share = [&](std::vector<LinkFault> faults) {
    const FaultSchedule schedule(faults, links);
    return hops_over(setting, schedule, schedule.moments()[0].epoch, between(0, 31))[middle].share;
  };
  const double both = share({{.link = healthy[middle].link, .factor = 1.0, .loss = 0.1},
                             {.link = healthy[middle - 1].link, .factor = 1.0, .loss = 0.2}});
  EXPECT_NEAR(both, share({{.link = healthy[middle].link, .factor = 1.0, .loss = 1.0 - 0.9 * 0.8}}), 1e-9 * both);
}

}  // namespace
}  // namespace ringwright::network_models::lossy_paths_test
