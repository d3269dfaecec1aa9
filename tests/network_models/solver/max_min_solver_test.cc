#include "network_models/solver/max_min_solver.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/paths.h"
#include "tests/peers/flow/csv_table.h"
#include "tests/reference/naive_max_min.h"

namespace ringwright::network_models::max_min_solver_test {
namespace {

using reference::NaiveRoute;

MaxMinSolution solve(const std::vector<double>& capacity, const std::vector<NaiveRoute>& routes) {
  std::vector<std::uint32_t> first_hop = {0};
  std::vector<std::uint32_t> hop_link;
  std::vector<double> hop_share;
  for (const NaiveRoute& route : routes) {
    for (const reference::NaiveHop& hop : route) {
      hop_link.push_back(hop.link);
      hop_share.push_back(hop.share);
    }
    first_hop.push_back(static_cast<std::uint32_t>(hop_link.size()));
  }
  MaxMinSolver solver;
  MaxMinSolution solution;
  solver.solve({.first_hop = first_hop, .hop_link = hop_link, .hop_share = hop_share, .capacity = capacity}, solution);
  return solution;
}

TEST(MaxMinSolver, OneLinkIsSplitEqually) {
  const MaxMinSolution solution = solve({12.0}, {{{.link = 0}}, {{.link = 0}}, {{.link = 0}}});
  EXPECT_EQ(solution.rate, (std::vector{4.0, 4.0, 4.0}));
  EXPECT_EQ(solution.bottleneck, (std::vector<std::uint32_t>{0, 0, 0}));
}

// Link 0 (4) holds flows 0 and 1 at 2; flow 2 gets what flow 1 leaves of link 1 (10): 8.
TEST(MaxMinSolver, WhatASlowFlowLeavesGoesToTheOthers) {
  const MaxMinSolution solution = solve({4.0, 10.0}, {{{.link = 0}}, {{.link = 0}, {.link = 1}}, {{.link = 1}}});
  EXPECT_EQ(solution.rate, (std::vector{2.0, 2.0, 8.0}));
  EXPECT_EQ(solution.bottleneck, (std::vector<std::uint32_t>{0, 0, 1}));
}

// Rates rise together, loads do not: 3 r + r = 8.
TEST(MaxMinSolver, AShareWeighsTheLoadAndNotTheRate) {
  const MaxMinSolution solution = solve({8.0}, {{{.link = 0, .share = 3.0}}, {{.link = 0}}});
  EXPECT_EQ(solution.rate, (std::vector{2.0, 2.0}));
}

// Sprayed over two links of 5, half on each, a flow reaches 10.
TEST(MaxMinSolver, ASprayedFlowUsesAllItsRoutes) {
  const MaxMinSolution solution = solve({5.0, 5.0}, {{{.link = 0, .share = 0.5}, {.link = 1, .share = 0.5}}});
  EXPECT_EQ(solution.rate, (std::vector{10.0}));
}

// 1,000 flows of share 1 are limited to 0.1 elsewhere; the one of share 1e-6 gets all of the remaining 900: 9e8. Taking
// 1,000 from 1,000.000001 leaves no more than seven digits of that share.
TEST(MaxMinSolver, ASmallShareSurvivesAmongLargeOnes) {
  std::vector<NaiveRoute> routes(1000, NaiveRoute{{.link = 0}, {.link = 1}});
  routes.push_back({{.link = 0, .share = 1e-6}});
  const MaxMinSolution solution = solve({1000.0, 100.0}, routes);
  EXPECT_NEAR(solution.rate[0], 0.1, 1e-15);
  EXPECT_NEAR(solution.rate.back(), 9e8, 9e8 * 1e-12);
}

TEST(MaxMinSolver, ADeadLinkStopsItsFlowsAndNoOthers) {
  const MaxMinSolution solution = solve({0.0, 6.0}, {{{.link = 0}, {.link = 1}}, {{.link = 1}}});
  EXPECT_EQ(solution.rate, (std::vector{0.0, 6.0}));
}

TEST(MaxMinSolver, AFlowWithoutHopsIsNotHeldBack) {
  const MaxMinSolution solution = solve({1.0}, {{}, {{.link = 0}}});
  EXPECT_EQ(solution.rate[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(solution.bottleneck[0], kNoBottleneck);
  EXPECT_EQ(solution.rate[1], 1.0);
}

TEST(MaxMinSolver, NoFlowsNoWork) { EXPECT_TRUE(solve({1.0, 2.0}, {}).rate.empty()); }

TEST(MaxMinSolver, RatesAreThoseOfExactRationalArithmetic) {
  const peers::CsvTable rows(ringwright::test_data() + "/peers/flow/maxmin-static-exact.csv");
  struct Case {
    std::vector<double> capacity;
    std::vector<NaiveRoute> routes;
    std::vector<double> rate;
  };
  std::map<std::uint32_t, Case> cases;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Case& instance = cases[rows.count(row, "case")];
    instance.capacity.clear();
    for (const std::string& text : peers::split(rows.text(row, "link_capacities"), ' ')) {
      instance.capacity.push_back(std::stod(text));
    }
    NaiveRoute route;
    for (const std::string& text : peers::split(rows.text(row, "path_links"), ' ')) {
      route.push_back({.link = static_cast<std::uint32_t>(std::stoul(text))});
    }
    instance.routes.push_back(route);
    const std::vector<std::string> fraction = peers::split(rows.text(row, "rate_exact_fraction"), '/');
    instance.rate.push_back(std::stod(fraction[0]) / (fraction.size() > 1 ? std::stod(fraction[1]) : 1.0));
  }
  ASSERT_EQ(cases.size(), 24U);
  for (const auto& [number, instance] : cases) {
    const MaxMinSolution solution = solve(instance.capacity, instance.routes);
    for (std::size_t f = 0; f < instance.rate.size(); ++f) {
      EXPECT_NEAR(solution.rate[f], instance.rate[f], 1e-12 * instance.rate[f]) << "case " << number << ", flow " << f;
    }
  }
}

std::vector<NaiveRoute> random_routes(RandomStream& random, std::size_t flows, std::size_t links) {
  constexpr std::array kShares = {1.0, 1.0, 1.0, 2.0, 3.0, 7.0, 0.5, 0.25, 1.0 / 3.0};
  std::vector<NaiveRoute> routes(flows);
  for (NaiveRoute& route : routes) {
    for (std::uint32_t l = 0; l < links; ++l) {
      if (random.next_below(3) == 0) route.push_back({.link = l, .share = kShares[random.next_below(kShares.size())]});
    }
    if (route.empty()) route.push_back({.link = static_cast<std::uint32_t>(random.next_below(links))});
  }
  return routes;
}

TEST(MaxMinSolver, AgreesWithExactProgressiveFillingOnRandomNetworks) {
  RandomStream random(7, "random networks");
  for (int instance = 0; instance < 600; ++instance) {
    std::vector<double> capacity(2 + random.next_below(8));
    for (double& value : capacity) value = static_cast<double>(1 + random.next_below(40));
    const std::vector<NaiveRoute> routes = random_routes(random, 1 + random.next_below(15), capacity.size());
    const std::vector<reference::Rational> exact = reference::naive_max_min(capacity, routes);
    const MaxMinSolution solution = solve(capacity, routes);
    for (std::size_t f = 0; f < routes.size(); ++f) {
      const auto expected = exact[f].convert_to<double>();
      EXPECT_NEAR(solution.rate[f], expected, 1e-12 * expected) << "instance " << instance << ", flow " << f;
    }
  }
}

// The certificate in the head of the header, on networks too large for the twin.
TEST(MaxMinSolver, EveryFlowCrossesAFullLinkOnWhichItIsAmongTheFastest) {
  RandomStream random(8, "large networks");
  std::vector<double> capacity(200);
  for (double& value : capacity) value = 1.0 + 99.0 * random.next_unit();
  std::vector<NaiveRoute> routes(2000);
  for (NaiveRoute& route : routes) {
    const auto first = static_cast<std::uint32_t>(random.next_below(196));
    for (std::uint32_t l = first; l < first + 1 + random.next_below(4); ++l) route.push_back({.link = l});
  }
  const MaxMinSolution solution = solve(capacity, routes);
  std::vector<double> load(capacity.size(), 0.0);
  std::vector<double> fastest(capacity.size(), 0.0);
  for (std::size_t f = 0; f < routes.size(); ++f) {
    for (const reference::NaiveHop& hop : routes[f]) {
      load[hop.link] += solution.rate[f];
      fastest[hop.link] = std::max(fastest[hop.link], solution.rate[f]);
    }
  }
  for (std::size_t l = 0; l < capacity.size(); ++l) EXPECT_LE(load[l], capacity[l] * (1 + 1e-12));
  for (std::size_t f = 0; f < routes.size(); ++f) {
    const std::uint32_t bottleneck = solution.bottleneck[f];
    EXPECT_NEAR(load[bottleneck], capacity[bottleneck], 1e-12 * capacity[bottleneck]);
    EXPECT_LE(fastest[bottleneck], solution.rate[f] * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace ringwright::network_models::max_min_solver_test
