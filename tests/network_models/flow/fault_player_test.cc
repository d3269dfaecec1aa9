// Faults on the flow model, against closed forms.
#include "network_models/flow/fault_player.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::fault_player_test {
namespace {

using namespace ringwright::literals;

// Two equal paths, link 0 and link 1, of 1 GB/s; all flows prefer link 0. Link 2 of 4 GB/s leads to both.
class TwoRoutes final : public Router {
 public:
  explicit TwoRoutes(Duration latency = Duration(0)) : latency_(latency) {}
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const bool around = query.down != nullptr && (*query.down)[0] && !(*query.down)[1];
    hops.assign({{.link = LinkId(2)}, {.link = LinkId(around ? 1 : 0)}});
    return latency_;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  Duration latency_;
  std::vector<Bandwidth> capacities_ = {1_GBps, 1_GBps, 4_GBps};
};

struct FaultBench {
  explicit FaultBench(const std::vector<LinkFault>& faults, Duration latency = Duration(0),
                      FastForward fast_forward = FastForward::kOn)
      : routes(latency),
        schedule(faults, 3),
        router(routes, schedule),
        bench("flow", router, {.fast_forward = fast_forward, .verify_fairness = true}),
        player({.engine = bench.engine, .schedule = schedule, .router = router, .network = *bench.network,
                .capacities = routes.capacities(), .link_class_of = {}}) {
    player.schedule();
  }

  TwoRoutes routes;
  FaultSchedule schedule;
  FaultyRouter router;
  ModelBench bench;
  FaultPlayer player;
};

LinkFault down(int link, Duration at) { return {.link = LinkId(link), .at = TimePoint(at)}; }
LinkFault down(int link, Duration at, Duration until) {
  return {.link = LinkId(link), .at = TimePoint(at), .until = TimePoint(until)};
}

// 1 MB in the first ms at 1 GB/s, the second at half of it: 2 ms.
TEST(Faults, ADegradedLinkSlowsWhatIsOnItsRoute) {
  FaultBench test({{.link = LinkId(0), .at = TimePoint(1_ms), .factor = 0.5}});
  test.bench.send(0, Bytes(2'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(3_ms));
}

// 1 MB before, 1 MB at half speed from 1 to 3 ms, 1 MB after.
TEST(Faults, ADegradedLinkRecovers) {
  FaultBench test({{.link = LinkId(0), .at = TimePoint(1_ms), .until = TimePoint(3_ms), .factor = 0.5}});
  test.bench.send(0, Bytes(3'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(4_ms));
}

// The rest goes over link 1 at the same speed: no time is lost, but bytes change links.
TEST(Faults, AFlowContinuesAroundALinkThatGoesDown) {
  FaultBench test({down(0, 1_ms)});
  test.bench.send(0, Bytes(3'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(3_ms));
  const std::vector<LinkUsage> usage = test.bench.network->usage();
  EXPECT_NEAR(usage[0].bytes, 1e6, 1e-3);
  EXPECT_NEAR(usage[1].bytes, 2e6, 1e-3);
  EXPECT_NEAR(usage[2].bytes, 3e6, 1e-3);
  EXPECT_EQ(usage[0].busy, 1_ms);
  EXPECT_EQ(usage[1].busy, 2_ms);
  EXPECT_EQ(usage[2].busy, 3_ms);
}

TEST(Faults, UsageIsRightInTheMiddleOfADetour) {
  FaultBench test({down(0, 1_ms)});
  test.bench.send(0, Bytes(3'000'000));
  std::vector<LinkUsage> usage;
  struct Probe {
    const NetworkModel& network;
    std::vector<LinkUsage>& usage;
  } probe = {*test.bench.network, usage};
  test.bench.engine.at(TimePoint(2_ms), [&probe] { probe.usage = probe.network.usage(); });
  test.bench.engine.run();
  EXPECT_NEAR(usage[0].bytes, 1e6, 1e-3);
  EXPECT_NEAR(usage[1].bytes, 1e6, 1e-3);
  EXPECT_NEAR(usage[2].bytes, 2e6, 1e-3);
}

// Two flows of 2 MB on link 0 are half done with 1 MB each at 2 ms. Both move to link 1 and share that.
TEST(Faults, FlowsShareTheDetour) {
  FaultBench test({down(0, 2_ms)});
  test.bench.send(0, Bytes(2'000'000));
  test.bench.send(1, Bytes(2'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(4_ms));
  EXPECT_EQ(test.bench.log.time_of(1), TimePoint(4_ms));
  EXPECT_LE(test.bench.counter("largest fairness error (parts in 1e18)"), 1000U);
}

// Down from 1 to 2 ms, and back on link 0 from then on.
TEST(Faults, AFlowReturnsWhenTheLinkIsBack) {
  FaultBench test({down(0, 1_ms, 2_ms)});
  test.bench.send(0, Bytes(4'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(4_ms));
  EXPECT_EQ(test.bench.network->usage()[0].busy, 3_ms);
  EXPECT_EQ(test.bench.network->usage()[1].busy, 1_ms);
}

// No path is left from 1 to 5 ms: the flow waits for 4 ms.
TEST(Faults, AFlowWaitsWhereNoRouteIsLeft) {
  FaultBench test({down(0, 1_ms, 5_ms), down(1, 1_ms, 5_ms)});
  test.bench.send(0, Bytes(2'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(6_ms));
}

TEST(Faults, AFlowThatStartsOnADeadRouteWaitsToo) {
  FaultBench test({down(2, 0_ms, 5_ms)});
  test.bench.send_at(TimePoint(1_ms), 0, Bytes(1'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(6_ms));
}

TEST(Faults, AFlowNeverArrivesWhenTheLinkStaysDown) {
  FaultBench test({down(2, 1_ms)});
  test.bench.send(0, Bytes(2'000'000));
  EXPECT_EQ(test.bench.engine.run(), RunEnd::kIdle);
  EXPECT_TRUE(test.bench.log.arrivals.empty());
}

// A flow that ends at the instant of the fault has ended.
TEST(Faults, AFlowThatEndsAtTheInstantOfTheFaultIsDone) {
  FaultBench test({down(2, 1_ms)});
  test.bench.send(0, Bytes(1'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(1_ms));
}

// The latency of 10 us is paid while the link goes down; the bytes enter the other path at the end of it.
TEST(Faults, WhilePayingItsLatencyAFlowChangesItsRouteOnly) {
  FaultBench test({down(0, 5_us)}, 10_us);
  test.bench.send(0, Bytes(1'000'000));
  test.bench.engine.run();
  EXPECT_EQ(test.bench.log.time_of(0), TimePoint(1010_us));
  EXPECT_EQ(test.bench.network->usage()[0].busy, Duration(0));
  EXPECT_EQ(test.bench.network->usage()[1].busy, 1_ms);
}

// Ten repetitions of 10 us + 100 us; from 355 us on at half speed: the fourth has 440 - 355 us of its bytes left, which
// take twice as long; six more take 10 + 200 us each: 355 + 2 * (440 - 355) + 6 * 210 us.
TEST(Faults, ABatchIsSplitByADegradedLink) {
  for (const FastForward mode : {FastForward::kOn, FastForward::kOff}) {
    FaultBench test({{.link = LinkId(0), .at = TimePoint(355_us), .factor = 0.5}}, 10_us, mode);
    test.bench.network->start(
        {.from = RankId(0), .to = RankId(1), .size = Bytes(100'000), .repeats = 10, .token = 0}, test.bench.log);
    test.bench.engine.run();
    EXPECT_EQ(test.bench.log.time_of(0), TimePoint(355_us + 170_us + 1260_us));
  }
}

TEST(Faults, ABatchGoesAroundALinkThatIsDown) {
  for (const FastForward mode : {FastForward::kOn, FastForward::kOff}) {
    FaultBench test({down(0, 355_us, 600_us)}, 10_us, mode);
    test.bench.network->start(
        {.from = RankId(0), .to = RankId(1), .size = Bytes(100'000), .repeats = 10, .token = 0}, test.bench.log);
    test.bench.engine.run();
    EXPECT_EQ(test.bench.log.time_of(0), TimePoint(1100_us));
    const std::vector<LinkUsage> usage = test.bench.network->usage();
    // From 355 to 440 and from 450 to 550 us, and of the sixth repetition from 560 to 600 us.
    EXPECT_NEAR(usage[1].bytes, 85e3 + 100e3 + 40e3, 1e-3);
    EXPECT_NEAR(usage[0].bytes, 1e6 - 225e3, 1e-3);
    EXPECT_EQ(usage[1].busy, 225_us);
  }
}

// A folded run's link 0 stands for links 0 and 1 of the schedule.
TEST(Faults, AreTranslatedToClassesOfLinks) {
  const TwoRoutes routes;
  const std::vector<LinkFault> faults = {{.link = LinkId(4), .at = TimePoint(1_ms), .factor = 0.5}};
  const FaultSchedule schedule(faults, 5);
  FaultyRouter router(routes, schedule);
  ModelBench bench("flow", router);
  const std::vector<std::uint32_t> class_of = {2, 2, 1, 1, 0};
  FaultPlayer player({.engine = bench.engine, .schedule = schedule, .router = router, .network = *bench.network,
                      .capacities = routes.capacities(), .link_class_of = class_of});
  player.schedule();
  bench.send(0, Bytes(2'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(3_ms));
}

}  // namespace
}  // namespace ringwright::network_models::fault_player_test
