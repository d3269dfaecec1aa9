// The flow model on hand-computed cases, and against finish times from exact rational arithmetic.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"
#include "tests/paths.h"
#include "tests/peers/flow/csv_table.h"

namespace ringwright::network_models::flow_test {
namespace {

using namespace ringwright::literals;

std::vector<Bandwidth> links(std::initializer_list<Bandwidth> values) { return values; }

// 1 MB at 1 GB/s is 1 ms, after 5 us of latency.
TEST(Flow, ALoneTransferTakesLatencyPlusItsTimeOnTheNarrowestLink) {
  const TableRouter router(links({2_GBps, 1_GBps}), {over({0, 1}, 5_us)});
  ModelBench bench("flow", router);
  bench.send(0, Bytes(1'000'000));
  EXPECT_TRUE(bench.log.arrivals.empty());
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1005_us));
}

// Alone for 1 ms (1 of 2 MB), then half each: the second's 1 MB and the first's rest both take 2 ms more.
TEST(Flow, ALateComerTakesItsHalf) {
  const TableRouter router(links({1_GBps}), {over({0}), over({0})});
  ModelBench bench("flow", router);
  bench.send(0, Bytes(2'000'000));
  bench.send_at(TimePoint(1_ms), 1, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(3_ms));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(3_ms));
}

// Half each until the small one (1 MB) is done at 2 ms; the large one's other 2 MB then go at full speed.
TEST(Flow, WhoStaysSpeedsUpWhenTheOtherLeaves) {
  const TableRouter router(links({1_GBps}), {over({0}), over({0})});
  ModelBench bench("flow", router);
  bench.send(0, Bytes(3'000'000));
  bench.send(1, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(1), TimePoint(2_ms));
  EXPECT_EQ(bench.log.time_of(0), TimePoint(4_ms));
}

TEST(Flow, FlowsThatEndTogetherAreNotifiedInTheOrderOfTheirStart) {
  std::vector<TableRoute> routes;
  for (int i = 0; i < 20; ++i) routes.push_back(over({i % 3}, i % 2 == 0 ? 1_us : 2_us));
  const TableRouter router(links({1_GBps, 1_GBps, 1_GBps}), routes);
  ModelBench bench("flow", router);
  // No bytes and one latency: all of one kind are notified at one instant.
  for (const std::uint32_t row : {7U, 3U, 9U, 1U, 5U}) bench.send(row, Bytes(0));
  bench.engine.run();
  std::vector<std::uint64_t> order;
  for (const Arrived& arrival : bench.log.arrivals) order.push_back(arrival.token);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{7, 3, 9, 1, 5}));
}

// Half of the flow's rate goes over each of two links of 1 GB/s: 2 GB/s in all.
TEST(Flow, ASprayedTransferUsesBothPaths) {
  const TableRoute spray = {.latency = Duration(0),
                          .hops = {{.link = LinkId(0), .share = 0.5}, {.link = LinkId(1), .share = 0.5}}};
  const TableRouter router(links({1_GBps, 1_GBps}), {spray});
  ModelBench bench("flow", router);
  bench.send(0, Bytes(2'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1_ms));
  EXPECT_EQ(bench.network->usage()[0].bytes, 1e6);
  EXPECT_EQ(bench.network->usage()[1].bytes, 1e6);
}

TEST(Flow, APathWithoutLinksCostsItsLatency) {
  const TableRouter router(links({1_GBps}), {over({}, 3_us)});
  ModelBench bench("flow", router);
  bench.send(0, 1_GiB);
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(3_us));
}

TEST(Flow, OneInstantIsOneSolve) {
  const std::vector<TableRoute> routes(100, over({0}));
  const TableRouter router(links({1_GBps}), routes);
  ModelBench bench("flow", router);
  for (std::uint32_t row = 0; row < 100; ++row) bench.send(row, 1_MiB);
  bench.engine.run();
  EXPECT_EQ(bench.counter("solves"), 1U);
  EXPECT_EQ(bench.counter("flows"), 100U);
  EXPECT_EQ(bench.counter("most flows at a time"), 100U);
}

// A ping-pong of a million bytes needs one slot, not a thousand.
TEST(Flow, SlotsAreUsedAgain) {
  const TableRouter router(links({1_GBps}), {over({0}, 1_us)});
  ModelBench bench("flow", router);
  for (int i = 0; i < 1000; ++i) {
    bench.send(0, Bytes(1000));
    bench.engine.run();
  }
  EXPECT_EQ(bench.counter("most flows at a time"), 1U);
  EXPECT_EQ(bench.engine.now(), TimePoint(2_ms));
}

TEST(Flow, UsageIsUpToDateInTheMiddleOfATransfer) {
  const TableRouter router(links({1_GBps, 4_GBps}), {over({0, 1}, 10_us)});
  ModelBench bench("flow", router);
  bench.send(0, Bytes(1'000'000));
  std::vector<LinkUsage> usage;
  struct Probe {
    const NetworkModel& network;
    std::vector<LinkUsage>& usage;
  } probe = {*bench.network, usage};
  bench.engine.at(TimePoint(260_us), [&probe] { probe.usage = probe.network.usage(); });
  bench.engine.run();
  EXPECT_NEAR(usage[0].bytes, 250'000.0, 1e-6);
  EXPECT_EQ(usage[1].busy, 250_us);
  EXPECT_EQ(bench.network->usage()[0].bytes, 1e6);
  EXPECT_EQ(bench.network->usage()[0].busy, 1_ms);
}

// Repetitions that are simulated at once have carried, at any time, what they carry one by one: nothing while latency
// is paid.
TEST(Flow, UsageIsUpToDateInTheMiddleOfRepetitions) {
  const TableRouter router({1_GBps}, {over({0}, 10_us)});
  const auto usage_at = [&](FastForward fast_forward) {
    ModelBench bench("flow", router, {.fast_forward = fast_forward});
    bench.network->start({.from = RankId(0), .to = RankId(), .size = Bytes(20'000), .repeats = 5}, bench.log);
    std::vector<LinkUsage> readings;
    for (int us = 1; us < 160; us += 2) {
      bench.engine.at(TimePoint(Duration(us * 1'000'000LL)),
                      [&] { readings.push_back(bench.network->usage().front()); });
    }
    bench.engine.run();
    return readings;
  };
  const std::vector<LinkUsage> at_once = usage_at(FastForward::kOn);
  const std::vector<LinkUsage> one_by_one = usage_at(FastForward::kOff);
  ASSERT_EQ(at_once.size(), one_by_one.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    EXPECT_NEAR(at_once[i].bytes, one_by_one[i].bytes, 1e-6) << "reading " << i;
    EXPECT_EQ(at_once[i].busy, one_by_one[i].busy) << "reading " << i;
  }
  EXPECT_NEAR(at_once[17].bytes, 20'000.0, 1e-6) << "at 35 us the second latency is being paid";
}

TEST(Flow, VerificationReportsTheLargestError) {
  const TableRouter router(links({1_GBps, 3_GBps}), {over({0}), over({0, 1}), over({1})});
  ModelBench bench("flow", router, {.verify_fairness = true});
  for (std::uint32_t row = 0; row < 3; ++row) bench.send(row, Bytes(1000 * (row + 1)));
  bench.engine.run();
  EXPECT_LE(bench.counter("largest fairness error (parts in 1e18)"), 1000U);
}

struct ExactCase {
  std::vector<Bandwidth> capacities;
  std::vector<TableRoute> routes;
  std::vector<TimePoint> starts;
  std::vector<Bytes> sizes;
  std::vector<long double> finish_picoseconds;
};

std::map<std::uint32_t, ExactCase> exact_cases(const peers::CsvTable& rows) {
  std::map<std::uint32_t, ExactCase> cases;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ExactCase& instance = cases[rows.count(row, "case")];
    instance.capacities.clear();
    for (const std::string& text : peers::split(rows.text(row, "link_capacities_B_per_s"), ' ')) {
      instance.capacities.emplace_back(std::stod(text));
    }
    TableRoute route = {.latency = from_seconds(rows.number(row, "latency_s")), .hops = {}};
    for (const std::string& text : peers::split(rows.text(row, "path_links"), ' ')) {
      route.hops.push_back({.link = LinkId(std::stoi(text))});
    }
    instance.routes.push_back(route);
    instance.starts.push_back(TimePoint(from_seconds(rows.number(row, "start_s"))));
    instance.sizes.push_back(Bytes(std::stoll(rows.text(row, "size_B"))));
    const std::vector<std::string> fraction = peers::split(rows.text(row, "finish_exact_fraction_s"), '/');
    instance.finish_picoseconds.push_back(std::stold(fraction[0]) / std::stold(fraction[1]) * 1e12L);
  }
  return cases;
}

TEST(Flow, FinishTimesAreThoseOfExactRationalArithmeticToThePicosecond) {
  const peers::CsvTable rows(ringwright::test_data() + "/peers/flow/fluid-dynamic-exact.csv");
  const std::map<std::uint32_t, ExactCase> cases = exact_cases(rows);
  ASSERT_EQ(cases.size(), 16U);
  for (const auto& [number, instance] : cases) {
    const TableRouter router(instance.capacities, instance.routes);
    ModelBench bench("flow", router, {.verify_fairness = true});
    for (std::uint32_t row = 0; row < instance.routes.size(); ++row) {
      bench.send_at(instance.starts[row], row, instance.sizes[row]);
    }
    bench.engine.run();
    for (std::uint32_t row = 0; row < instance.routes.size(); ++row) {
      const auto ours = static_cast<long double>(bench.log.time_of(row).since_start().count());
      EXPECT_LE(std::abs(ours - instance.finish_picoseconds[row]), 1.0L) << "case " << number << ", flow " << row;
    }
    EXPECT_LE(bench.counter("largest fairness error (parts in 1e18)"), 10'000U);  // 1e-14
  }
}

}  // namespace
}  // namespace ringwright::network_models::flow_test
