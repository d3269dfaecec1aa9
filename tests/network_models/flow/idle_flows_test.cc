#include "network_models/flow/idle_flows.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/engine.h"
#include "network_models/flow/transfer_query.h"
#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::idle_flows_test {
namespace {

using namespace ringwright::literals;

Transfer from_row(std::uint32_t row) {
  return {.from = RankId(row), .to = RankId(), .size = 1_MiB};
}

class Flows {
 public:
  Flows() : router_(std::vector<Bandwidth>(2, 1_GBps), {over({0}, 3_us), over({0, 1}, 5_us)}) {}

  FlowSlot start(const Transfer& transfer) {
    RouteCache::Route& route = routes.find(query_of(transfer));
    const FlowSlot kept = idle.take(route, transfer);
    taken_again = kept != IdleFlows::kNone;
    return taken_again ? kept : idle.make(route, transfer, routes.hops(route));
  }
  // Whether the flow took the row of another one.
  bool run(const Transfer& transfer) {
    const FlowSlot flow = start(transfer);
    EXPECT_EQ(state.shares.route(flow).size(), transfer.from.value + 1U);
    EXPECT_EQ(state.shares.priority(flow), transfer.priority);
    EXPECT_EQ(state.flows.query(flow).from, transfer.from);
    EXPECT_EQ(state.flows[flow].copies, transfer.copies);
    EXPECT_EQ(state.flows[flow].repeats, transfer.repeats);
    end(flow);
    return taken_again;
  }
  void end(FlowSlot flow) {
    state.flows[flow].repeats = 0;
    idle.end(flow);
  }

 private:
  Engine engine_;
  TableRouter router_;

 public:
  FlowState state{engine_, router_.capacities()};
  RouteCache routes{router_};
  IdleFlows idle{state, routes};
  bool taken_again = false;
};

TEST(IdleFlows, TheThirdOverAPathTakesTheRowOfTheSecond) {
  Flows flows;
  EXPECT_FALSE(flows.run(from_row(1)));
  EXPECT_FALSE(flows.run(from_row(1))) << "a path that is taken once keeps no row";
  EXPECT_TRUE(flows.run(from_row(1)));
  EXPECT_TRUE(flows.run(from_row(1)));
  EXPECT_FALSE(flows.run(from_row(0)));
}

TEST(IdleFlows, TakeTheirNumbersInTheOrderOfStarting) {
  Flows flows;
  for (int i = 0; i < 3; ++i) (void)flows.run(from_row(1));
  Transfer repeated = from_row(1);
  repeated.repeats = 4;
  const FlowSlot first = flows.start(repeated);
  EXPECT_TRUE(flows.taken_again);
  EXPECT_EQ(flows.state.flows[first].order, 3U);
  const FlowSlot second = flows.start(from_row(1));
  EXPECT_FALSE(flows.taken_again) << "the row is in use";
  EXPECT_EQ(flows.state.flows[second].order, 7U);
  EXPECT_EQ(flows.state.flows.started(), 8U);
  EXPECT_EQ(flows.state.flows.most_in_flight(), 2U);
}

TEST(IdleFlows, OfOtherCopiesOrPriorityDoNot) {
  Flows flows;
  for (int i = 0; i < 3; ++i) (void)flows.run(from_row(1));
  Transfer other = from_row(1);
  other.copies = 2;
  EXPECT_FALSE(flows.run(other));
  EXPECT_TRUE(flows.run(other));
  other.priority = Priority::kLow;
  EXPECT_FALSE(flows.run(other));
  EXPECT_TRUE(flows.run(other));
  other.priority = Priority::kHigh;
  EXPECT_FALSE(flows.run(other));
}

TEST(IdleFlows, GiveTheirRowsBackWhenPathsChange) {
  Flows flows;
  for (int i = 0; i < 3; ++i) (void)flows.run(from_row(1));
  const FlowSlot rows = flows.state.flows.size();
  flows.routes.clear();
  for (int i = 0; i < 10; ++i) {
    flows.routes.clear();
    EXPECT_FALSE(flows.run(from_row(1)));
    EXPECT_FALSE(flows.run(from_row(1)));
  }
  EXPECT_LE(flows.state.flows.size(), rows + 1);
}

TEST(IdleFlows, OneInFlightWhenPathsChangeIsNotKept) {
  Flows flows;
  for (int i = 0; i < 2; ++i) (void)flows.run(from_row(1));
  const FlowSlot flow = flows.start(from_row(1));
  flows.routes.clear();
  flows.end(flow);
  EXPECT_FALSE(flows.run(from_row(1)));
}

// 1 MB at 1 GB/s and 3 us; 2 MB; then at 4 GB/s, twice, once with another in parallel (2 GB/s each); then with latency
// that the sender accounts for.
TEST(IdleFlows, KnowNothingThatHasChanged) {
  const TableRouter router({1_GBps}, {over({0}, 3_us)});
  ModelBench bench("flow", router);
  const auto takes = [&](Duration time, const Transfer& transfer, int count = 1) {
    const TimePoint start = bench.engine.now();
    bench.log.arrivals.clear();
    for (int i = 0; i < count; ++i) bench.network->start(transfer, bench.log);
    bench.engine.run();
    ASSERT_EQ(bench.log.arrivals.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(bench.log.arrivals.back().when, start + time);
  };
  Transfer transfer{.from = RankId(0), .to = RankId(), .size = Bytes(1'000'000)};
  for (int i = 0; i < 4; ++i) takes(1003_us, transfer);
  transfer.size = Bytes(2'000'000);
  takes(2003_us, transfer);
  bench.network->set_capacity(LinkId(0), 4_GBps);
  takes(503_us, transfer);
  takes(1003_us, transfer, 2);
  transfer.pays_latency = false;
  takes(500_us, transfer);
  transfer.copies = 2;
  for (int i = 0; i < 4; ++i) takes(1000_us, transfer);
  transfer.repeats = 3;
  takes(3000_us, transfer);
  transfer = {.from = RankId(0), .to = RankId(), .size = Bytes(1'000'000)};
  takes(253_us, transfer);
}

// A path that is another one from some time on.
class MovingRouter final : public Router {
 public:
  Duration route(const RouteQuery& /*query*/, std::vector<Hop>& hops) const override {
    hops = {{.link = LinkId(moved ? 1 : 0)}};
    return moved ? 7_us : 3_us;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

  bool moved = false;

 private:
  std::vector<Bandwidth> capacities_ = {1_GBps, 2_GBps};
};

TEST(IdleFlows, TakeNewPaths) {
  MovingRouter router;
  ModelBench bench("flow", router);
  const auto time_of_one = [&] {
    const TimePoint start = bench.engine.now();
    bench.log.arrivals.clear();
    bench.send(0, Bytes(1'000'000));
    bench.engine.run();
    return bench.log.arrivals.front().when - start;
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(time_of_one(), 1003_us);
  router.moved = true;
  bench.network->reroute();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(time_of_one(), 507_us);
  EXPECT_DOUBLE_EQ(bench.network->usage()[1].bytes, 4e6);
}

// Messages of 1 MB. The second moves from 1006 us on; at 1503 us 503,000 bytes are left, which take 251.5 us on the new
// path, and each of the two after that 507 us.
TEST(IdleFlows, RepeatsTakeTheRateOfTheirNewPath) {
  MovingRouter router;
  ModelBench bench("flow", router);
  bench.network->start({.from = RankId(0), .to = RankId(), .size = Bytes(1'000'000), .repeats = 4}, bench.log);
  bench.engine.after(1503_us, [&] {
    router.moved = true;
    bench.network->reroute();
  });
  bench.engine.run();
  EXPECT_EQ(bench.log.arrivals.front().when, TimePoint(2'768'500_ns));
}

// A flow that moves to another path in the middle is not kept for the old one.
TEST(IdleFlows, AFlowThatMovedIsNotKeptForItsOldPath) {
  MovingRouter router;
  ModelBench bench("flow", router);
  for (int i = 0; i < 3; ++i) {
    bench.send(0, Bytes(1'000'000));
    bench.engine.run();
  }
  bench.send(0, Bytes(1'000'000));
  bench.engine.after(503_us, [&] {
    router.moved = true;
    bench.network->reroute();
  });
  const TimePoint start = bench.engine.now();
  bench.log.arrivals.clear();
  bench.engine.run();
  EXPECT_EQ(bench.log.arrivals.front().when, start + 753_us) << "the rest at twice the rate";
  router.moved = false;
  bench.network->reroute();
  bench.engine.run();
  for (int i = 0; i < 3; ++i) {
    const TimePoint next = bench.engine.now();
    bench.log.arrivals.clear();
    bench.send(0, Bytes(1'000'000));
    bench.engine.run();
    EXPECT_EQ(bench.log.arrivals.front().when, next + 1003_us);
  }
}

}  // namespace
}  // namespace ringwright::network_models::idle_flows_test
