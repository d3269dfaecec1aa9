#include "network_models/solver/incremental_max_min.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/reference/naive_max_min.h"

namespace ringwright::network_models::incremental_max_min_test {
namespace {

std::vector<Bandwidth> bandwidths(const std::vector<double>& values) {
  std::vector<Bandwidth> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

std::vector<Hop> over(std::initializer_list<int> links) {
  std::vector<Hop> route;
  for (const int link : links) route.push_back({.link = LinkId(link)});
  return route;
}

void add(IncrementalMaxMin& shares, FlowSlot flow, const std::vector<Hop>& route) {
  shares.place(flow, route);
  shares.enter(flow);
}

std::vector<FlowSlot> sorted(std::span<const FlowSlot> flows) {
  std::vector<FlowSlot> result(flows.begin(), flows.end());
  std::ranges::sort(result);
  return result;
}

TEST(IncrementalMaxMin, AFlowThatIsPlacedTakesNothingUntilItEnters) {
  IncrementalMaxMin shares(bandwidths({10.0}));
  add(shares, 0, over({0}));
  shares.place(1, over({0}));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 10.0);
  shares.enter(1);
  shares.solve();
  EXPECT_EQ(shares.rate(0), 5.0);
  EXPECT_EQ(shares.rate(1), 5.0);
}

TEST(IncrementalMaxMin, NamesExactlyTheFlowsWhoseRateHasChanged) {
  IncrementalMaxMin shares(bandwidths({10.0, 10.0}));
  add(shares, 0, over({0}));
  add(shares, 1, over({1}));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{0, 1}));
  add(shares, 2, over({1}));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{1, 2}));
  EXPECT_TRUE(shares.solve().empty());
  shares.leave(2);
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{1}));
}

// A connection keeps eight messages in flight: on one route they are solved as one.
TEST(IncrementalMaxMin, FlowsOfOneRouteShareItsRateAndAreAllNamed) {
  IncrementalMaxMin shares(bandwidths({10.0, 8.0}));
  for (FlowSlot flow = 0; flow < 3; ++flow) add(shares, flow, over({0, 1}));
  add(shares, 3, over({1}));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{0, 1, 2, 3}));
  EXPECT_EQ(shares.rate(0), 2.0);
  EXPECT_EQ(shares.rate(3), 2.0);
  EXPECT_EQ(shares.load(LinkId(1)), 8.0);
  shares.leave(1);
  shares.leave(3);
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{0, 2}));
  EXPECT_EQ(shares.rate(2), 4.0);
  EXPECT_EQ(shares.flow_count(), 2U);
}

// One leaves and another one enters: the path keeps its rate, which is reported for the new flow.
TEST(IncrementalMaxMin, AFlowThatReplacesAnotherIsReportedAlone) {
  IncrementalMaxMin shares(bandwidths({10.0}));
  add(shares, 0, over({0}));
  add(shares, 1, over({0}));
  shares.solve();
  shares.leave(0);
  add(shares, 2, over({0}));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{2}));
  EXPECT_EQ(shares.rate(2), 5.0);
}

// The only flow of a path leaves, and another one takes the path before the next solve: no rate has to be found.
TEST(IncrementalMaxMin, AFlowThatFollowsTheOnlyOneOfAPathNeedsNoSolve) {
  IncrementalMaxMin shares(bandwidths({10.0, 10.0}));
  add(shares, 0, over({0, 1}));
  add(shares, 1, over({1}));
  shares.solve();
  const IncrementalMaxMin::Work before = shares.work();
  shares.leave(0);
  add(shares, 2, over({0, 1}));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{2}));
  EXPECT_EQ(shares.rate(2), 5.0);
  EXPECT_EQ(shares.work().solves, before.solves);
  EXPECT_EQ(shares.work().flows_resolved, before.flows_resolved);
  shares.leave(2);
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{1}));
  EXPECT_EQ(shares.rate(1), 10.0);
}

TEST(IncrementalMaxMin, APathIsEmptyAsSoonAsItsLastFlowHasLeft) {
  IncrementalMaxMin shares(bandwidths({10.0, 10.0}));
  add(shares, 0, over({0, 1}));
  add(shares, 1, over({1}));
  shares.place(2, over({0}));
  EXPECT_FALSE(shares.route_is_empty(2));
  EXPECT_FALSE(shares.is_alone(1));
  shares.leave(0);
  EXPECT_TRUE(shares.route_is_empty(2));
  EXPECT_TRUE(shares.is_empty(LinkId(0)));
  EXPECT_TRUE(shares.is_alone(1));
}

// A chain: freeing link 0 lets flow 1 rise, which takes from flow 2 on link 1, which leaves more to flow 3 on link 2.
TEST(IncrementalMaxMin, FollowsAChainOfBottlenecks) {
  std::vector<double> capacities = {4.0, 10.0, 12.0};
  capacities.resize(30, 1000.0);
  IncrementalMaxMin shares(bandwidths(capacities));
  add(shares, 0, over({0}));
  add(shares, 1, over({0, 1}));
  add(shares, 2, over({1, 2}));
  add(shares, 3, over({2}));
  for (int flow = 4; flow < 30; ++flow) add(shares, static_cast<FlowSlot>(flow), over({flow}));  // not touched
  shares.solve();
  EXPECT_EQ(shares.rate(1), 2.0);
  EXPECT_EQ(shares.rate(2), 6.0);  // link 2 in halves; on link 1 it could have 8
  EXPECT_EQ(shares.rate(3), 6.0);
  const std::uint64_t before = shares.work().flows_resolved;
  shares.leave(0);
  shares.solve();
  EXPECT_EQ(shares.rate(1), 4.0);
  EXPECT_EQ(shares.rate(2), 6.0);
  add(shares, 0, over({1}));
  shares.solve();  // link 1: three flows, 10 / 3 each, below the 4 of link 0
  EXPECT_NEAR(shares.rate(1), 10.0 / 3, 1e-12);
  EXPECT_NEAR(shares.rate(2), 10.0 / 3, 1e-12);
  EXPECT_NEAR(shares.rate(3), 12.0 - 10.0 / 3, 1e-12);
  EXPECT_LE(shares.work().flows_resolved - before, 10U);
}

TEST(IncrementalMaxMin, ALinkMayFailAndComeBack) {
  IncrementalMaxMin shares(bandwidths({10.0, 30.0}));
  add(shares, 0, over({0, 1}));
  add(shares, 1, over({1}));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 10.0);
  shares.set_capacity(LinkId(0), Bandwidth(0.0));
  EXPECT_EQ(sorted(shares.solve()), (std::vector<FlowSlot>{0, 1}));
  EXPECT_EQ(shares.rate(0), 0.0);
  EXPECT_EQ(shares.rate(1), 30.0);
  shares.set_capacity(LinkId(0), Bandwidth(20.0));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 15.0);
  EXPECT_EQ(shares.rate(1), 15.0);
}

// Flow 0 is limited by link 0, so a shrinking link 1 is not its bottleneck; still it must slow down.
TEST(IncrementalMaxMin, AShrinkingLinkSlowsFlowsThatAreHeldBackElsewhere) {
  IncrementalMaxMin shares(bandwidths({4.0, 10.0, 100.0}));
  add(shares, 0, over({0, 1}));
  for (FlowSlot flow = 1; flow < 9; ++flow) add(shares, flow, over({2}));
  shares.solve();
  shares.set_capacity(LinkId(1), Bandwidth(3.0));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 3.0);
}

TEST(IncrementalMaxMin, ASlotIsReusableInTheSameInstant) {
  IncrementalMaxMin shares(bandwidths({8.0, 6.0}));
  add(shares, 0, over({0}));
  shares.solve();
  shares.leave(0);
  add(shares, 0, over({1, 0}));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 6.0);
  EXPECT_EQ(shares.flow_count(), 1U);
}

TEST(IncrementalMaxMin, KeepsTheRouteOfAFlowAndForgetsIt) {
  IncrementalMaxMin shares(bandwidths({8.0, 6.0}));
  shares.place(0, std::vector<Hop>{{.link = LinkId(1), .share = 0.25}});
  ASSERT_EQ(shares.route(0).size(), 1U);
  EXPECT_EQ(shares.route(0)[0].link, 1U);
  EXPECT_EQ(shares.route(0)[0].share, 0.25);
  shares.forget(0);
  EXPECT_TRUE(shares.route(0).empty());
}

TEST(IncrementalMaxMin, ASmallChangeAmongManyFlowsIsSolvedInItsSurroundings) {
  constexpr int kLinks = 500;
  IncrementalMaxMin shares(std::vector<Bandwidth>(kLinks, Bandwidth(10.0)));
  for (int l = 0; l < kLinks; ++l) add(shares, static_cast<FlowSlot>(l), over({l}));
  shares.solve();
  const std::uint64_t before = shares.work().flows_resolved;
  add(shares, kLinks, over({17}));
  shares.solve();
  EXPECT_EQ(shares.work().flows_resolved - before, 2U);
  EXPECT_EQ(shares.work().full_solves, 1U);
}

// Flow 0 is bounded by link 0 alone, until flow 1 crosses the wide link 1 without it.
TEST(IncrementalMaxMin, ALooseLinkBoundsRatesOnceAFlowLeavesOutTheTighterOne) {
  IncrementalMaxMin shares(bandwidths({10.0, 15.0}));
  add(shares, 0, over({0, 1}));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 10.0);
  add(shares, 1, over({1}));
  shares.solve();
  EXPECT_EQ(shares.rate(0), 7.5);
  EXPECT_EQ(shares.rate(1), 7.5);
  shares.leave(1);
  shares.solve();
  EXPECT_EQ(shares.rate(0), 10.0);
}

// Random starts and ends against the exact twin.
class Churn {
 public:
  // kAnywhere: routes over any links, which change their capacities. kHosts: links with even numbers are NICs, each
  // followed by the link inside its host, which messages from or to the NIC cross and, seldom, others do.
  enum class Routes { kAnywhere, kHosts };
  Churn(std::uint64_t seed, std::size_t links, Routes routes = Routes::kAnywhere)
      : random_(seed, "churn"), kind_(routes), capacity_(capacities(links)), shares_(bandwidths(capacity_)) {}

  void change() {
    const std::uint64_t changes = 1 + random_.next_below(3);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::uint64_t what = random_.next_below(20);
      if (what == 0 && kind_ == Routes::kAnywhere) {
        resize(static_cast<std::uint32_t>(random_.next_below(capacity_.size())));
      } else if (what < 11 || routes_.empty()) {
        add_flow();
      } else {
        remove_flow();
      }
    }
  }

  // Solves, and compares every rate and the list of changes.
  void solve_and_compare() {
    const std::vector<FlowSlot> changed = sorted(shares_.solve());
    std::vector<reference::NaiveRoute> routes;
    for (const auto& [flow, route] : routes_) routes.push_back(route);
    const std::vector<reference::Rational> exact = reference::naive_max_min(capacity_, routes);
    std::size_t index = 0;
    for (const auto& [flow, route] : routes_) {
      const auto expected = exact[index++].convert_to<double>();
      EXPECT_NEAR(shares_.rate(flow), expected, 1e-11 * expected + 1e-12);
      const auto known = rates_.find(flow);
      const bool same = known != rates_.end() && std::abs(known->second - expected) <= 1e-10 * expected;
      if (!same && expected > 0.0) {
        EXPECT_TRUE(std::ranges::binary_search(changed, flow)) << "the change of a rate is not reported";
      }
      rates_[flow] = expected;
    }
    EXPECT_LE(shares_.largest_error(), 1e-10);
  }
  [[nodiscard]] const IncrementalMaxMin& shares() const { return shares_; }

 private:
  [[nodiscard]] std::vector<double> capacities(std::size_t links) {
    std::vector<double> result;
    for (std::size_t link = 0; link < links; ++link) {
      constexpr std::array kWider = {1.0, 1.25, 1.5, 4.0};
      const bool inside = kind_ == Routes::kHosts && link % 2 == 1;
      result.push_back(inside ? result.back() * kWider[random_.next_below(kWider.size())] : any_capacity());
    }
    return result;
  }
  // Occasionally a link is down.
  [[nodiscard]] double any_capacity() {
    return random_.next_below(12) == 0 ? 0.0 : static_cast<double>(4 + random_.next_below(60));
  }
  void resize(std::uint32_t link) {
    capacity_[link] = any_capacity();
    shares_.set_capacity(LinkId(link), Bandwidth(capacity_[link]));
  }
  [[nodiscard]] std::set<std::uint32_t> any_links() {
    std::set<std::uint32_t> links;
    const std::uint64_t length = 1 + random_.next_below(4);
    while (links.size() < length) links.insert(static_cast<std::uint32_t>(random_.next_below(capacity_.size())));
    return links;
  }
  [[nodiscard]] std::set<std::uint32_t> links_of_hosts() {
    std::set<std::uint32_t> links;
    for (int host = 0; host < 2; ++host) {
      const auto nic = static_cast<std::uint32_t>(2 * random_.next_below(capacity_.size() / 2));
      if (random_.next_below(40) > 0) links.insert(nic);
      links.insert(nic + 1);
    }
    return links;
  }
  void add_flow() {
    constexpr std::array kShares = {1.0, 1.0, 1.0, 1.0, 2.0, 5.0, 0.5, 0.125};
    FlowSlot slot = 0;
    while (routes_.contains(slot)) ++slot;
    std::vector<Hop> route;
    reference::NaiveRoute naive;
    for (const std::uint32_t link : kind_ == Routes::kHosts ? links_of_hosts() : any_links()) {
      const double share = kShares[random_.next_below(kShares.size())];
      route.push_back({.link = LinkId(link), .share = share});
      naive.push_back({.link = link, .share = share});
    }
    shares_.place(slot, route);
    shares_.enter(slot);
    routes_[slot] = naive;
    rates_.erase(slot);
  }
  void remove_flow() {
    auto flow = routes_.begin();
    std::advance(flow, random_.next_below(routes_.size()));
    shares_.leave(flow->first);
    rates_.erase(flow->first);
    routes_.erase(flow);
  }

  RandomStream random_;
  Routes kind_;
  std::vector<double> capacity_;
  IncrementalMaxMin shares_;
  std::map<FlowSlot, reference::NaiveRoute> routes_;
  std::map<FlowSlot, double> rates_;
};

TEST(IncrementalMaxMin, AgreesWithTheExactTwinThroughThousandsOfChanges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Churn churn(seed, 5 + seed / 2);
    for (int step = 0; step < 80; ++step) {
      churn.change();
      churn.solve_and_compare();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(churn.shares().work().solves, churn.shares().work().full_solves) << "nothing was solved partially";
  }
}

// Links inside hosts are loose until another flow crosses them, some from the start to the end.
TEST(IncrementalMaxMin, AgreesWithTheExactTwinWhereLinksAreLoose) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Churn churn(seed, 6 + seed / 4 * 2, Churn::Routes::kHosts);
    for (int step = 0; step < 80; ++step) {
      churn.change();
      churn.solve_and_compare();
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Sizes too large for the twin: each partial solve against a full one.
TEST(IncrementalMaxMin, AgreesWithFullSolvesOnALargeNetwork) {
  RandomStream random(3, "large");
  constexpr std::uint32_t kLinks = 300;
  IncrementalMaxMin shares(std::vector<Bandwidth>(kLinks, Bandwidth(50e9)));
  std::vector<FlowSlot> inside;
  double largest = 0.0;
  for (FlowSlot flow = 0; flow < 1500; ++flow) {
    const auto first = static_cast<int>(random.next_below(kLinks - 60));
    add(shares, flow, over({first, first + 7, first + 21, first + 55}));
    inside.push_back(flow);
    if (flow >= 400) {
      const std::size_t index = random.next_below(inside.size());
      shares.leave(inside[index]);
      inside[index] = inside.back();
      inside.pop_back();
    }
    shares.solve();
    if (flow % 5 == 0) largest = std::max(largest, shares.largest_error());
  }
  EXPECT_LE(largest, 1e-11);
  EXPECT_LT(shares.work().flows_resolved, 1500U * 200U);
}

}  // namespace
}  // namespace ringwright::network_models::incremental_max_min_test
