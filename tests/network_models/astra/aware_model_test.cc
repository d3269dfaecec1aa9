// A link of 1 GB/s takes a microsecond for 1,000 bytes.
#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::aware_model_test {
namespace {

using namespace ringwright::literals;

TEST(AstraAware, MessagesOfALinkWaitForEachOther) {
  const TableRouter router({1_GBps}, {over({0}, 1_us), over({0}, 1_us)});
  ModelBench bench("astra_aware", router);
  bench.send(0, Bytes(1000));
  bench.send(1, Bytes(3000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(2_us));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(5_us)) << "it starts at 1 us";
}

// Each of two links takes half of the latency and all of the bytes.
TEST(AstraAware, WholeMessagesAreStoredAndForwarded) {
  const TableRouter router({1_GBps, 1_GBps}, {over({0, 1}, 2_us)});
  ModelBench bench("astra_aware", router);
  bench.send(0, Bytes(1000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(4_us));
}

TEST(AstraAware, EveryLinkRoundsDownToANanosecond) {
  const TableRouter router({1_GBps, 1_GBps}, {over({0, 1}, 1'200_ps)});  // 0.6 ns each
  ModelBench bench("astra_aware", router);
  bench.send(0, Bytes(3));  // 3.6 ns
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(6_ns));
}

TEST(AstraAware, ALinkIsBusyWhileItSends) {
  const TableRouter router({1_GBps}, {over({0}, 9_us)});
  ModelBench bench("astra_aware", router);
  bench.send(0, Bytes(4000));
  std::vector<LinkUsage> halfway;
  bench.engine.at(TimePoint(1_us), [&] { halfway = bench.network->usage(); });
  bench.engine.run();
  EXPECT_EQ(halfway[0].busy, 1_us);
  EXPECT_DOUBLE_EQ(halfway[0].bytes, 1000.0);
  EXPECT_EQ(bench.network->usage()[0].busy, 4_us);
}

TEST(AstraAware, CopiesFollowEachOtherAndRepeatsWaitForTheirArrival) {
  const TableRouter router({1_GBps}, {over({0}, 1_us)});
  ModelBench bench("astra_aware", router);
  bench.network->start({.from = RankId(0), .to = RankId(), .size = Bytes(1000), .repeats = 2, .copies = 3}, bench.log);
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(8_us)) << "twice three sends of 1 us and the latency of the last";
}

TEST(AstraUnaware, TimesAreTheLatencyAndTheNarrowestLinkRoundedDown) {
  const TableRouter router({1_GBps, 2_GBps}, {over({0, 1}, 1'200_ps), over({0, 1}, 1'200_ps)});
  ModelBench bench("astra_unaware", router);
  bench.send(0, Bytes(3));  // 1.2 + 3 ns
  bench.send(1, Bytes(3));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(4_ns));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(4_ns)) << "alone, as any other";
}

}  // namespace
}  // namespace ringwright::network_models::aware_model_test
