// The flow model's patience: stalled transfers between hosts are given up, others wait.
#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::flow_patience_test {
namespace {

using namespace ringwright::literals;

// Ranks 2 and 3 send to rank 0 on another host, rank 1 on its own.
constexpr ModelOptions kPatient{.patience = 10_ms, .ranks_per_host = 2};

TableRouter one_link() {
  return TableRouter({1_GBps}, {over({0}), over({0}), over({0}), over({0})});
}

void send(ModelBench& bench, std::uint32_t from, Bytes size) {
  bench.network->start({.from = RankId(from), .to = RankId(0), .size = size, .token = from}, bench.log);
}
void set_at(ModelBench& bench, TimePoint when, Bandwidth capacity) {
  bench.engine.at(when, [&bench, capacity] { bench.network->set_capacity(LinkId(0), capacity); });
}

// 1 of 2 ms is done when the link goes down for 9 ms.
TEST(FlowPatience, AShortStallIsTolerated) {
  const TableRouter router = one_link();
  ModelBench bench("flow", router, kPatient);
  send(bench, 2, Bytes(2'000'000));
  set_at(bench, TimePoint(1_ms), Bandwidth(0.0));
  set_at(bench, TimePoint(10_ms), 1_GBps);
  bench.engine.run();
  EXPECT_FALSE(bench.network->given_up().has_value());
  EXPECT_EQ(bench.log.time_of(2), TimePoint(11_ms));
}

TEST(FlowPatience, ALongStallEndsTheRunAndNamesTheLink) {
  const TableRouter router = one_link();
  ModelBench bench("flow", router, kPatient);
  send(bench, 3, Bytes(2'000'000));
  send(bench, 2, Bytes(2'000'000));
  set_at(bench, TimePoint(1_ms), Bandwidth(0.0));
  set_at(bench, TimePoint(20_ms), 1_GBps);
  bench.engine.run();
  EXPECT_EQ(bench.engine.now(), TimePoint(11_ms));
  ASSERT_TRUE(bench.network->given_up().has_value());
  EXPECT_EQ(bench.network->given_up()->from, RankId(3));  // the first that was started
  EXPECT_EQ(bench.network->given_up()->link, LinkId(0));
  EXPECT_EQ(bench.network->given_up()->since, TimePoint(1_ms));
}

// It stalls from its first byte on.
TEST(FlowPatience, AFlowOnALinkThatIsDownStallsFromTheStart) {
  const TableRouter router = one_link();
  ModelBench bench("flow", router, kPatient);
  set_at(bench, TimePoint(), Bandwidth(0.0));
  bench.engine.at(TimePoint(2_ms), [&bench] { send(bench, 2, Bytes(1'000)); });
  bench.engine.run();
  ASSERT_TRUE(bench.network->given_up().has_value());
  EXPECT_EQ(bench.engine.now(), TimePoint(12_ms));
}

TEST(FlowPatience, EachStallCountsFromZero) {
  const TableRouter router = one_link();
  ModelBench bench("flow", router, kPatient);
  send(bench, 2, Bytes(3'000'000));
  for (const int from : {1, 10}) {
    set_at(bench, TimePoint(Duration(1_ms) * from), Bandwidth(0.0));
    set_at(bench, TimePoint(Duration(1_ms) * (from + 8)), 1_GBps);
  }
  bench.engine.run();
  EXPECT_FALSE(bench.network->given_up().has_value());
  EXPECT_EQ(bench.log.time_of(2), TimePoint(19_ms));
}

TEST(FlowPatience, WithinAHostEverybodyWaits) {
  const TableRouter router = one_link();
  ModelBench bench("flow", router, kPatient);
  send(bench, 1, Bytes(1'000));
  set_at(bench, TimePoint(), Bandwidth(0.0));
  set_at(bench, TimePoint(90_ms), 1_GBps);
  bench.engine.run();
  EXPECT_FALSE(bench.network->given_up().has_value());
  EXPECT_EQ(bench.log.time_of(1), TimePoint(90_ms + 1_us));
}

}  // namespace
}  // namespace ringwright::network_models::flow_patience_test
