// The alpha-beta model on hand-computed cases.
#include <vector>

#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::alpha_beta_test {
namespace {

using namespace ringwright::literals;

// 1 MB over the narrower 1 GB/s is 1 ms.
TEST(AlphaBeta, TakesLatencyPlusSizeOverTheNarrowestLink) {
  const TableRouter router({2_GBps, 1_GBps}, {over({0, 1}, 5_us)});
  ModelBench bench("alpha_beta", router);
  bench.send(0, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1005_us));
}

TEST(AlphaBeta, TransfersDoNotShare) {
  const TableRouter router({1_GBps}, {over({0}), over({0})});
  ModelBench bench("alpha_beta", router);
  bench.send(0, Bytes(1'000'000));
  bench.send(1, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1_ms));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(1_ms));
}

// Whatever else is in flight, three times one after another.
TEST(AlphaBeta, TellsHowLongATransferTakes) {
  const TableRouter router({1_GBps}, {over({0}, 5_us)});
  ModelBench bench("alpha_beta", router);
  bench.send(0, Bytes(1'000'000));
  const Transfer transfer{.from = RankId(0), .to = RankId(), .size = Bytes(1'000'000), .repeats = 3};
  EXPECT_EQ(bench.network->time_alone(transfer), 3015_us);
}

// A quarter of the bytes crosses link 1 of 1 GB/s, all of them link 0 of 3 GB/s: link 0 decides.
TEST(AlphaBeta, ASharedOutLinkIsAsFastAsItsShareIsSmall) {
  const TableRoute route = {.latency = Duration(0), .hops = {{.link = LinkId(0)}, {.link = LinkId(1), .share = 0.25}}};
  const TableRouter router({3_GBps, 1_GBps}, {route});
  ModelBench bench("alpha_beta", router);
  bench.send(0, Bytes(3'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(1_ms));
  EXPECT_EQ(bench.network->usage()[1].bytes, 750'000.0);
}

TEST(AlphaBeta, UsageInTheMiddleOfATransferIsInProportionToItsTime) {
  const TableRouter router({1_GBps}, {over({0}, 10_us)});
  ModelBench bench("alpha_beta", router);
  bench.send(0, Bytes(1'000'000));
  std::vector<LinkUsage> early;
  std::vector<LinkUsage> late;
  bench.engine.at(TimePoint(5_us), [&bench, &early] { early = bench.network->usage(); });
  bench.engine.at(TimePoint(260_us), [&bench, &late] { late = bench.network->usage(); });
  bench.engine.run();
  EXPECT_EQ(early[0].bytes, 0.0);
  EXPECT_NEAR(late[0].bytes, 250'000.0, 1e-6);
  EXPECT_EQ(late[0].busy, 260_us);
}

}  // namespace
}  // namespace ringwright::network_models::alpha_beta_test
