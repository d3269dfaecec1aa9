// The overhead of a call before its first step: 5 us, on wires of 1 us and 1 ns a byte.
#include "core/ports/call_overhead.h"

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "tests/support/played_graph.h"

namespace ringwright::call_overhead_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

class FiveMicroseconds final : public CallOverhead {
 public:
  [[nodiscard]] Duration of(const CollectiveCall& /*call*/) const override { return 5_us; }
  [[nodiscard]] Duration of(const MessageBetween& /*message*/) const override { return 5_us; }
};

RunResult play(TaskGraph& graph, const char* algorithm = "ring", const ExecutorOptions& options = {}) {
  const FiveMicroseconds overhead;
  return test::play_on_wires(graph, {.algorithm = collectives::find_algorithm(algorithm), .overhead = &overhead},
                             options);
}

// Four ranks, `calls` collectives of 4,000 bytes one after another.
TaskGraph four_ranks(CollectiveKind kind, int calls) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1, 2, 3}});
  ProgramBuilder program(graph, "all");
  for (int call = 0; call < calls; ++call) program.collective(dp, kind, Bytes(4000), StreamIndex(1));
  program.run_on({0, 1, 2, 3});
  return graph;
}

// A ring of four: six steps of 1,000 bytes, each 2 us.
TEST(CallOverhead, IsPaidOnceByEachCall) {
  for (const int calls : {1, 3}) {
    TaskGraph graph = four_ranks(CollectiveKind::kAllReduce, calls);
    EXPECT_EQ(play(graph).record.iteration_end.back(), TimePoint(calls * 17_us));
  }
}

// Recursive doubling has no uniform steps that pass as one batch: two of 4,000 bytes.
TEST(CallOverhead, ComesBeforeStepsOfAnySort) {
  TaskGraph graph = four_ranks(CollectiveKind::kAllReduce, 2);
  EXPECT_EQ(play(graph, "recursive_doubling").record.iteration_end.back(), TimePoint(2 * (5_us + 2 * 5_us)));
}

TEST(CallOverhead, IsCommunicationInTheLedger) {
  TaskGraph graph = four_ranks(CollectiveKind::kAllReduce, 1);
  const RunResult run = play(graph);
  EXPECT_EQ(run.record.time_in.front()[communicating(DimensionId(0))], 17_us);
}

// Two ranks exchange after 3 us and 20 us of computing. The late one starts its message at 25 us; that of the early
// one, sent at 8 us, waits for it. One step of 2,000 bytes ends at 28 us, and another at 31 us.
TEST(CallOverhead, IsPaidFromEachMembersOwnCall) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder early(graph, "early");
  early.compute(3_us);
  early.collective(dp, CollectiveKind::kAllReduce, Bytes(4000), StreamIndex(0));
  early.run_on({0});
  ProgramBuilder late(graph, "late");
  late.compute(20_us);
  late.collective(dp, CollectiveKind::kAllReduce, Bytes(4000), StreamIndex(0));
  late.run_on({1});
  EXPECT_EQ(play(graph).record.iteration_end.back(), TimePoint(31_us));
}

// Rank 0 sends `count` messages of 1,000 bytes, one after another: 2 us each on the wire.
TaskGraph two_ranks(int count, const MessageSpec& like = {}) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  ProgramBuilder receiver(graph, "receiver");
  for (int message = 0; message < count; ++message) {
    MessageSpec spec = like;
    spec.bytes = Bytes(1000);
    spec.peer = 1;
    sender.send(pp, spec, StreamIndex(1));
    spec.peer = 0;
    receiver.receive(pp, spec, {}, StreamIndex(1));
  }
  sender.run_on({0});
  receiver.run_on({1});
  return graph;
}

TEST(CallOverhead, IsPaidOnceByEachMessage) {
  for (const int messages : {1, 3}) {
    TaskGraph graph = two_ranks(messages);
    const RunResult run = play(graph);
    EXPECT_EQ(run.record.iteration_end.back(), TimePoint(messages * 7_us));
    EXPECT_EQ(run.record.time_in.back()[communicating(DimensionId(0))], messages * 7_us);
  }
}

// A GPU's own stores into its neighbour's memory are not a call of the library.
TEST(CallOverhead, IsNotOfMessagesThatTheSenderStores) {
  TaskGraph graph = two_ranks(3, {.moved_by = MovedBy::kSender});
  EXPECT_EQ(play(graph).record.iteration_end.back(), TimePoint(3 * 2_us));
}

TEST(CallOverhead, OfMessagesRepeatsWithEveryTrainingStepSimulatedOrNot) {
  for (const bool skip : {false, true}) {
    TaskGraph graph = two_ranks(2);
    graph.iterations = 40;
    EXPECT_EQ(play(graph, "ring", {.skip_repeated_iterations = skip}).record.iteration_end.back(),
              TimePoint(40 * 2 * 7_us));
  }
}

TEST(CallOverhead, RepeatsWithEveryTrainingStepSimulatedOrNot) {
  for (const bool skip : {false, true}) {
    TaskGraph graph = four_ranks(CollectiveKind::kAllReduce, 2);
    graph.iterations = 40;
    const RunResult run = play(graph, "ring", {.skip_repeated_iterations = skip});
    EXPECT_EQ(run.record.iteration_end.back(), TimePoint(40 * 2 * 17_us));
  }
}

}  // namespace
}  // namespace ringwright::call_overhead_test
