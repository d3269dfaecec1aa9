// Messages that move together on hand-computed cases of the flow model, and their joint paths.
#include "network_models/flow/flow_routes.h"

#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::flow_routes_test {
namespace {

using namespace ringwright::literals;

CoupledMessage message(std::uint32_t row, Bytes size) {
  return {.query = {.from = RankId(row), .to = RankId()}, .size = size};
}

const std::vector<Bandwidth> kTwoLinks = {1_GBps, 4_GBps};

TEST(FlowRoutes, AddUpTheBytesOfMessagesThatShareALink) {
  const TableRouter router(kTwoLinks, {over({0}, 3_us), over({0, 1}, 5_us), over({1})});
  FlowRoutes routes(router);
  const std::vector<CoupledMessage> messages = {message(0, Bytes(1000)), message(1, Bytes(4000)), message(2, Bytes(0))};
  const FlowRoutes::CoupledPath path = routes.find({.messages = messages, .steps = 3}, 0);
  EXPECT_EQ(path.latency, 15_us);
  EXPECT_DOUBLE_EQ(path.bytes, 12000.0);
  EXPECT_EQ(path.longest.from, RankId(1));
  ASSERT_EQ(routes.hops().size(), 2U);
  EXPECT_DOUBLE_EQ(routes.hops()[0].share, 1.25);  // 1000 + 4000 of 4000
  EXPECT_DOUBLE_EQ(routes.hops()[1].share, 1.0);
}

TEST(FlowRoutes, CountWhatAFoldedMessageStandsFor) {
  const TableRoute folded = {.latency = 1_us, .hops = {{.link = LinkId(0), .share = 0.5, .multiplicity = 6.0}}};
  const TableRouter router(kTwoLinks, {folded});
  FlowRoutes routes(router);
  const std::vector<CoupledMessage> messages = {message(0, Bytes(1000))};
  (void)routes.find({.messages = messages}, 0);
  EXPECT_DOUBLE_EQ(routes.hops()[0].share, 3.0);
}

// Counts how often it is asked.
class CountingRouter final : public Router {
 public:
  explicit CountingRouter(const Router& router) : router_(router) {}
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    ++asked;
    return router_.route(query, hops);
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }
  mutable int asked = 0;

 private:
  const Router& router_;
};

TEST(FlowRoutes, AskForAPathOnceUntilPathsChange) {
  const TableRouter table(kTwoLinks, {over({0}, 3_us), over({0, 1}, 5_us)});
  const CountingRouter router(table);
  FlowRoutes routes(router);
  const RouteQuery query{.from = RankId(1), .to = RankId()};
  EXPECT_EQ(routes.find(query, 1), 5_us);
  EXPECT_EQ(routes.find(query, 4), 5_us);
  EXPECT_DOUBLE_EQ(routes.hops()[1].multiplicity, 4.0);
  EXPECT_EQ(routes.find(query, 1), 5_us);
  EXPECT_DOUBLE_EQ(routes.hops()[1].multiplicity, 1.0);
  EXPECT_EQ(router.asked, 1);
  routes.forget_known();
  EXPECT_EQ(routes.find(query, 1), 5_us);
  EXPECT_EQ(router.asked, 2);
}

// Two messages of 1 MB on 1 GB/s and one on a link of its own: 2 ms, and 2 us of latency, five times.
TEST(FlowRoutes, GiveCoupledMessagesTheRateOfTheirFullestLink) {
  const TableRouter router(kTwoLinks, {over({0}, 2_us), over({0}, 1_us), over({1}, 1_us)});
  ModelBench bench("flow", router);
  const Bytes size(1'000'000);
  const std::vector<CoupledMessage> messages = {message(0, size), message(1, size), message(2, size)};
  bench.network->start_coupled({.messages = messages, .steps = 5, .token = 7}, bench.log);
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(7), TimePoint(5 * 2002_us));
  const std::vector<LinkUsage> usage = bench.network->usage();
  EXPECT_DOUBLE_EQ(usage[0].bytes, 10e6);
  EXPECT_DOUBLE_EQ(usage[1].bytes, 5e6);
}

// Three flows share the link: a third each. The transfer's 1 MB takes 3 ms; by then 1 MB of each of the two coupled
// messages has moved, and the other 1 MB of each takes 2 ms.
TEST(FlowRoutes, ShareALinkFairlyWithOtherTransfers) {
  const TableRouter router(kTwoLinks, {over({0}), over({0}), over({0})});
  ModelBench bench("flow", router);
  const std::vector<CoupledMessage> messages = {message(0, Bytes(1'000'000)), message(1, Bytes(1'000'000))};
  bench.network->start_coupled({.messages = messages, .steps = 2, .token = 7}, bench.log);
  bench.send(2, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(2), TimePoint(3_ms));
  EXPECT_EQ(bench.log.time_of(7), TimePoint(5_ms));
}

// Slots are reused: a transfer after coupled messages must not take their path when routes change.
TEST(FlowRoutes, ForgetCoupledMessagesThatHaveArrived) {
  const TableRouter router(kTwoLinks, {over({0}), over({1})});
  ModelBench bench("flow", router);
  const std::vector<CoupledMessage> messages = {message(0, Bytes(1'000'000))};
  bench.network->start_coupled({.messages = messages, .token = 7}, bench.log);
  bench.engine.run();
  bench.send(1, Bytes(4'000'000));
  bench.engine.at(TimePoint(1500_us), [&] { bench.network->reroute(); });
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(1), TimePoint(2_ms));
}

// A link fails at 1 ms and the rest of the 2 MB takes the same path again at full rate.
TEST(FlowRoutes, StayCoupledWhenRoutesChange) {
  const TableRouter router(kTwoLinks, {over({0}), over({1})});
  ModelBench bench("flow", router);
  const std::vector<CoupledMessage> messages = {message(0, Bytes(2'000'000)), message(1, Bytes(2'000'000))};
  bench.network->start_coupled({.messages = messages, .token = 7}, bench.log);
  bench.engine.at(TimePoint(1_ms), [&] { bench.network->reroute(); });
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(7), TimePoint(2_ms));
  EXPECT_NEAR(bench.network->usage()[1].bytes, 2e6, 1e-3);
}

}  // namespace
}  // namespace ringwright::network_models::flow_routes_test
