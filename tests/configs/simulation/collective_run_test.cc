#include "configs/simulation/collective_run.h"

#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::collective_run_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

// Four GPUs joined by a switch plane of 100 GB/s a GPU without any latency: times are bytes over rate.
constexpr std::string_view kPlainHost =
    "cluster:\n"
    "  node:\n"
    "    gpus: 4\n"
    "    gpu: {preset: h100-sxm5-80gb}\n"
    "    nvlink: {kind: nvswitch, bandwidth: 100GB/s, latency: 0ns}\n"
    "collectives: {model: steps, overhead: none}\n";

[[nodiscard]] Scenario machine(std::string_view text, std::vector<std::string> overrides = {}) {
  auto scenario = load_machine_text("machine.yaml", text, {.overrides = std::move(overrides), .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

[[nodiscard]] CollectiveResult played(CollectiveBench& bench, const CollectiveRequest& request) {
  auto result = bench.run(request);
  if (!result) throw std::runtime_error(render(result.error()));
  return *result;
}

TEST(CollectiveRun, ARingAllReduceMovesItsFactorTimesTheBuffer) {
  const Scenario scenario = machine(kPlainHost, {"collectives.world.algorithm=ring"});
  CollectiveBench bench(scenario);
  EXPECT_EQ(bench.ranks(0), 4);
  // 2 (n-1)/n = 1.5 buffers leave each rank: 400 MB * 1.5 / 100 GB/s = 6 ms.
  const CollectiveResult result = played(bench, {.bytes = Bytes(400'000'000)});
  EXPECT_EQ(result.time, 6_ms);
  EXPECT_EQ(result.algorithm, "ring");
}

TEST(CollectiveRun, AShiftMovesTheBufferOnce) {
  const Scenario scenario = machine(kPlainHost);
  CollectiveBench bench(scenario);
  // Each rank sends 400 MB and receives 400 MB at once: 400 MB / 100 GB/s.
  EXPECT_EQ(played(bench, {.operation = CollectiveOperation::kSendReceive, .bytes = Bytes(400'000'000)}).time, 4_ms);
}

TEST(CollectiveRun, CallsGoNoFasterThanTheThreadThatIssuesThem) {
  const Scenario scenario = machine(kPlainHost, {"collectives.model=chunks", "comm.costs.host.call=9us"});
  CollectiveBench bench(scenario);
  EXPECT_EQ(played(bench, {.bytes = Bytes(1024), .gpus_per_process = 4}).time, 36_us);
  // Where the device takes longer, the thread is ahead of it.
  const Duration large = played(bench, {.bytes = 64_MiB}).time;
  EXPECT_GT(large, 36_us);
  EXPECT_EQ(played(bench, {.bytes = 64_MiB, .gpus_per_process = 4}).time, large);
}

TEST(CollectiveRun, CallsAloneTakeTheHostsPartBesidesTheDevices) {
  const Scenario scenario = machine(kPlainHost, {"collectives.model=chunks", "comm.costs.host.call=9us"});
  CollectiveBench bench(scenario);
  const Duration device = played(bench, {.bytes = 64_MiB}).time;
  // No stream of calls, and so no limit by the thread that issues them.
  EXPECT_EQ(played(bench, {.bytes = 64_MiB, .gpus_per_process = 4, .alone = 20_us}).time, device + 20_us);
}

TEST(CollectiveRun, AThreadTakesLongerForCallsWithMoreChannels) {
  const Scenario scenario = machine(kPlainHost, {"collectives.model=chunks", "comm.costs.host.call=9us",
                                                 "comm.costs.host.channel=2us",
                                                 "comm.plan={algorithm: ring, protocol: ll, channels: 4}"});
  CollectiveBench bench(scenario);
  // Four GPUs, each 9 us for the call and 2 us for three channels more.
  EXPECT_EQ(played(bench, {.bytes = Bytes(1024), .gpus_per_process = 4}).time, 60_us);
}

TEST(CollectiveRun, AThreadTakesLongerForEachPeerOfAnAllToAll) {
  const Scenario scenario = machine(kPlainHost, {"collectives.model=chunks", "comm.costs.host.call=9us",
                                                 "comm.costs.host.channel=5us", "comm.costs.host.peer=2us"});
  CollectiveBench bench(scenario);
  // Four GPUs, each 9 us for the call and 2 us for each of four ranks, including itself; no piece of work for a
  // channel.
  EXPECT_EQ(
      played(bench, {.operation = CollectiveOperation::kAllToAll, .bytes = Bytes(1024), .gpus_per_process = 4}).time,
      68_us);
}

TEST(CollectiveRun, OnlyTheFirstGpusOfAHostTakePart) {
  const Scenario scenario = machine(kPlainHost, {"collectives.world.algorithm=ring"});
  CollectiveBench bench(scenario);
  EXPECT_EQ(bench.ranks(2), 2);
  // Two ranks: 2 * 1/2 = 1 buffer.
  EXPECT_EQ(played(bench, {.bytes = Bytes(400'000'000), .gpus_per_host = 2}).time, 4_ms);
}

TEST(CollectiveRun, TheMeanOfCallsBackToBackIsThatOfOneWhereNothingOverlaps) {
  const Scenario scenario = machine(kPlainHost, {"collectives.world.algorithm=ring"});
  CollectiveBench bench(scenario);
  EXPECT_EQ(played(bench, {.bytes = Bytes(400'000'000), .warmup = 2, .iterations = 5}).time, 6_ms);
}

TEST(CollectiveRun, ASweepOverOneBenchIsAsManyRunsOfTheirOwn) {
  const Scenario scenario = machine("cluster: {nodes: 2, node: {preset: dgx-h100}}\n");
  CollectiveBench shared(scenario);
  for (const Bytes size : {64_KiB, 1_MiB, 64_MiB}) {
    CollectiveBench fresh(scenario);
    EXPECT_EQ(played(shared, {.bytes = size}).time, played(fresh, {.bytes = size}).time);
  }
}

TEST(CollectiveRun, AChoiceThatCannotPlayIsReportedAndTheBenchLivesOn) {
  const Scenario scenario = machine(kPlainHost, {"collectives.world.algorithm=pairwise"});
  CollectiveBench bench(scenario);
  const auto refused = bench.run({.bytes = 1_MiB});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().all().front().code, "E151");
  EXPECT_GT(played(bench, {.operation = CollectiveOperation::kAllToAll, .bytes = 1_MiB}).time, Duration(0));
}

TEST(CollectiveRun, SizesAreWholeSharesOfWholeElements) {
  EXPECT_EQ(rounded_size(CollectiveOperation::kAllReduce, Bytes(103), 8, 4), Bytes(100));
  // A share for each of 8 ranks: 12 bytes, three floats.
  EXPECT_EQ(rounded_size(CollectiveOperation::kAllGather, Bytes(103), 8, 4), Bytes(96));
  EXPECT_EQ(rounded_size(CollectiveOperation::kAllToAll, Bytes(8), 8, 4), Bytes(0));
}

TEST(CollectiveRun, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOperation::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOperation::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOperation::kSendReceive, 8), 1.0);
}

TEST(CollectiveRun, OperationsAreFoundUnderTheirNamesElsewhere) {
  for (const OperationName& entry : collective_operations()) EXPECT_EQ(parse_operation(entry.name), entry.operation);
  EXPECT_EQ(parse_operation("all_reduce_perf"), CollectiveOperation::kAllReduce);
  EXPECT_EQ(parse_operation("ReduceScatter"), CollectiveOperation::kReduceScatter);
  EXPECT_FALSE(parse_operation("gossip").has_value());
}

TEST(Machine, NeedsNoJob) {
  EXPECT_EQ(machine(kPlainHost).cluster.gpus(), 4);
}

TEST(Machine, AKeyThatNothingReadsIsAnError) {
  const auto scenario = load_machine_text("machine.yaml", std::string(kPlainHost) + "paralel: {tp: 2}\n");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(render(scenario.error()), HasSubstr("E102"));
}

}  // namespace
}  // namespace ringwright::configs::collective_run_test
