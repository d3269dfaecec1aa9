#include "network_models/solver/priority_max_min.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"
#include "tests/reference/naive_max_min.h"

namespace ringwright::network_models::priority_max_min_test {
namespace {

using namespace ringwright::literals;
using reference::NaiveHop;
using reference::NaiveRoute;
using reference::Rational;

std::vector<Bandwidth> bandwidths(const std::vector<double>& values) {
  std::vector<Bandwidth> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

void add(PriorityMaxMin& shares, FlowSlot flow, const std::vector<Hop>& route, Priority priority) {
  shares.place(flow, route, priority);
  shares.enter(flow);
}

std::vector<Hop> route_over(std::initializer_list<int> links) { return over(links).hops; }

TEST(PriorityMaxMin, LowTakesWhatHighLeaves) {
  PriorityMaxMin shares(bandwidths({10.0, 4.0}));
  add(shares, 0, route_over({0, 1}), Priority::kHigh);  // limited to 4 by link 1
  add(shares, 1, route_over({0}), Priority::kLow);
  add(shares, 2, route_over({0}), Priority::kLow);
  shares.solve();
  EXPECT_EQ(shares.rate(0), 4.0);
  EXPECT_EQ(shares.rate(1), 3.0);
  EXPECT_EQ(shares.rate(2), 3.0);
}

TEST(PriorityMaxMin, LowStallsOnALinkThatHighFills) {
  PriorityMaxMin shares(bandwidths({10.0}));
  for (FlowSlot flow = 0; flow < 3; ++flow) add(shares, flow, route_over({0}), Priority::kHigh);
  add(shares, 3, route_over({0}), Priority::kLow);
  shares.solve();
  EXPECT_EQ(shares.rate(3), 0.0);
  for (FlowSlot flow = 0; flow < 3; ++flow) shares.leave(flow);
  shares.solve();
  EXPECT_EQ(shares.rate(3), 10.0);
}

TEST(PriorityMaxMin, ASlotMayChangeItsClass) {
  PriorityMaxMin shares(bandwidths({10.0}));
  add(shares, 0, route_over({0}), Priority::kLow);
  add(shares, 1, route_over({0}), Priority::kHigh);
  shares.solve();
  EXPECT_EQ(shares.rate(0), 0.0);
  shares.leave(0);
  shares.forget(0);
  add(shares, 0, route_over({0}), Priority::kHigh);
  shares.solve();
  EXPECT_EQ(shares.rate(0), 5.0);
  EXPECT_EQ(shares.rate(1), 5.0);
}

TEST(PriorityMaxMin, APathIsEmptyOnlyWhenNeitherClassIsOnIt) {
  PriorityMaxMin shares(bandwidths({10.0, 8.0}));
  shares.place(0, route_over({0, 1}));
  EXPECT_TRUE(shares.route_is_empty(0));
  EXPECT_EQ(shares.rate_alone(0), 8.0);
  add(shares, 1, route_over({1}), Priority::kLow);
  EXPECT_FALSE(shares.route_is_empty(0));
}

// The twin: all of the high class in exact arithmetic, then the low class on the remaining capacity of each link.
class Twin {
 public:
  explicit Twin(std::vector<double> by_link) : capacity(std::move(by_link)) {}

  [[nodiscard]] std::map<FlowSlot, double> rates() const {
    std::map<FlowSlot, double> result;
    std::vector<double> rest = capacity;
    for (const Priority priority : {Priority::kHigh, Priority::kLow}) {
      std::vector<FlowSlot> slots;
      std::vector<NaiveRoute> routes;
      for (const auto& [slot, flow] : flows) {
        if (flow.priority != priority) continue;
        slots.push_back(slot);
        routes.push_back(flow.route);
      }
      const std::vector<Rational> exact = reference::naive_max_min(rest, routes);
      std::vector<Rational> left(rest.begin(), rest.end());
      for (std::size_t i = 0; i < slots.size(); ++i) {
        result[slots[i]] = exact[i].convert_to<double>();
        for (const NaiveHop& hop : routes[i]) left[hop.link] -= Rational(hop.share) * exact[i];
      }
      for (std::size_t link = 0; link < rest.size(); ++link) rest[link] = left[link].convert_to<double>();
    }
    return result;
  }

  struct Flow {
    NaiveRoute route;
    Priority priority = Priority::kHigh;
  };
  std::vector<double> capacity;
  std::map<FlowSlot, Flow> flows;
};

// Flows of both classes come and go and capacities change, in a random order; after every step all rates agree.
TEST(PriorityMaxMin, AgreesWithTheExactTwinWhileFlowsComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomStream random(seed, "priorities");
    Twin twin({10.0, 7.0, 12.0, 5.0, 9.0, 16.0});
    PriorityMaxMin shares(bandwidths(twin.capacity));
    for (int turn = 0; turn < 60; ++turn) {
      const auto slot = static_cast<FlowSlot>(random.next_below(14));
      if (twin.flows.contains(slot)) {
        shares.leave(slot);
        shares.forget(slot);
        twin.flows.erase(slot);
      } else {
        Twin::Flow flow{.route = {}, .priority = random.next_below(2) == 0 ? Priority::kHigh : Priority::kLow};
        std::vector<Hop> route;
        for (std::uint32_t link = 0; link < 6; ++link) {
          if (random.next_below(3) != 0 && !(route.empty() && link == 5)) continue;
          const double share = random.next_below(2) == 0 ? 1.0 : 0.5;
          flow.route.push_back({.link = link, .share = share});
          route.push_back({.link = LinkId(link), .share = share});
        }
        twin.flows[slot] = flow;
        add(shares, slot, route, flow.priority);
      }
      if (turn % 7 == 3) {
        const std::size_t link = random.next_below(6);
        twin.capacity[link] = 4.0 + static_cast<double>(random.next_below(12));
        shares.set_capacity(LinkId(link), Bandwidth(twin.capacity[link]));
      }
      shares.solve();
      for (const auto& [flow, rate] : twin.rates()) {
        EXPECT_NEAR(shares.rate(flow), rate, 1e-8) << "seed " << seed << " round " << turn << " flow " << flow;
      }
      EXPECT_LE(shares.largest_error(), 1e-9);
    }
  }
}

// --- in the model ---

Transfer background(Transfer transfer) {
  transfer.priority = Priority::kLow;
  return transfer;
}

// The low flow of 2 MB has 1 GB/s until 1 ms, nothing for the 1 ms of the high flow, and then the rest of its time.
TEST(Priorities, BackgroundTrafficYieldsToTheJob) {
  const TableRouter router(std::vector<Bandwidth>{1_GBps}, {over({0}), over({0})});
  ModelBench bench("flow", router, {.verify_fairness = true});
  bench.network->start(background({.from = RankId(0), .size = Bytes(2'000'000), .token = 0}), bench.log);
  bench.send_at(TimePoint(1_ms), 1, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(1), TimePoint(2_ms));
  EXPECT_EQ(bench.log.time_of(0), TimePoint(3_ms));
}

// A ring step repeated ten times, 100 us each, is not affected by low traffic on its link, as a batch or not.
TEST(Priorities, ABatchOfTheJobIsNotDelayedByBackgroundTraffic) {
  const TableRouter router(std::vector<Bandwidth>{1_GBps}, {over({0}), over({0})});
  ModelBench bench("flow", router);
  bench.network->start({.from = RankId(0), .size = Bytes(100'000), .repeats = 10, .token = 0}, bench.log);
  bench.network->start(background({.from = RankId(1), .size = Bytes(500'000), .token = 1}), bench.log);
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1_ms));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(1500_us));
}

}  // namespace
}  // namespace ringwright::network_models::priority_max_min_test
