// What a call costs before its first step: 5 us, on wires of 1 us and 1 ns a byte.
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
};

RunResult play(TaskGraph& graph, const char* algorithm = "ring", const ExecutorOptions& options = {}) {
  const FiveMicroseconds overhead;
  return test::play_on_wires(graph, {.algorithm = collectives::find_algorithm(algorithm), .overhead = &overhead}, options);
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

// Recursive doubling has no uniform steps that pass as one train: two of 4,000 bytes.
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

TEST(CallOverhead, RepeatsWithEveryTrainingStepPlayedOrNot) {
  for (const bool skip : {false, true}) {
    TaskGraph graph = four_ranks(CollectiveKind::kAllReduce, 2);
    graph.iterations = 40;
    const RunResult run = play(graph, "ring", {.skip_repeated_iterations = skip});
    EXPECT_EQ(run.record.iteration_end.back(), TimePoint(40 * 2 * 17_us));
  }
}

}  // namespace
}  // namespace ringwright::call_overhead_test
