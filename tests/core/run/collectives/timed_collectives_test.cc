#include "core/run/collectives/timed_collectives.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::timed_collectives_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;

// One microsecond for every thousand bytes.
class PlainTimes final : public CollectiveTime {
 public:
  [[nodiscard]] Duration time(const CollectiveCall& call) const override { return 1_ns * call.bytes.count(); }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return call.bytes; }
};

RunResult play(TaskGraph& graph) {
  static const PlainTimes kTimes;
  return test::play_on_wires(graph, {.times = &kTimes});
}

TEST(TimedCollectives, EndForAllAGivenTimeAfterTheLastHasCome) {
  TaskGraph graph;
  const DimensionId tp = test::add_late_member(graph, {.call = {CollectiveKind::kAllReduce, Bytes(3000)},
                                                       .early = {0, 1},
                                                       .late = 2,
                                                       .by = 10_us});
  const RunResult result = play(graph);
  for (const TimePoint end : result.record.finished_at) EXPECT_EQ(end, TimePoint(13_us));
  // The time before the last member joins is waiting, not communication.
  EXPECT_EQ(result.record.time_in[0][communicating(tp)], 3_us);
  EXPECT_EQ(result.record.sent[0][0], Bytes(3000));
  EXPECT_EQ(result.record.messages, 0U);
}

TEST(TimedCollectives, OfOneGroupMatchInTheirOrder) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllReduce, Bytes(1000), kCommStream);
  program.collective(tp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  program.run_on({0, 1});
  EXPECT_EQ(play(graph).record.finished_at[1], TimePoint(3_us));
}

TEST(TimedCollectives, SayWhoIsMissing) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder calls(graph, "calls");
  calls.collective(tp, CollectiveKind::kAllReduce, Bytes(1000), kCommStream);
  calls.run_on({0});
  ProgramBuilder never(graph, "never");
  never.compute(1_us);
  never.run_on({1});
  const RunResult result = play(graph);
  ASSERT_EQ(result.outcome, RunOutcome::kStalled);
  ASSERT_EQ(result.stall.blocked.size(), 1U);
  EXPECT_EQ(result.stall.blocked[0].waits_for, "call 0 of 'tp' (all_reduce), which waits for rank 1");
}

}  // namespace
}  // namespace ringwright::timed_collectives_test
