#include "core/run/collectives/coupled_collectives.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::coupled_collectives_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;

RunResult play(TaskGraph& graph, test::PlayParts parts = {}) {
  parts.progress = MemberProgress::kTogether;
  return test::play_on_wires(graph, parts);
}

// All-gather of 3000 bytes in a ring of three: 2 steps of 1000 bytes, 2 us each, once the last has come.
TEST(CoupledCollectives, EndForAllWhenTheStepsAfterTheLastMemberAreDone) {
  TaskGraph graph;
  const DimensionId tp = test::add_late_member(graph, {.call = {CollectiveKind::kAllGather, Bytes(3000)},
                                                       .early = {0, 1},
                                                       .late = 2,
                                                       .by = 10_us});
  const RunResult result = play(graph);
  for (const TimePoint end : result.record.finished_at) EXPECT_EQ(end, TimePoint(14_us));
  EXPECT_EQ(result.record.time_in[0][communicating(tp)], 4_us);
  EXPECT_EQ(result.record.sent[0][0], Bytes(2000));
  EXPECT_EQ(result.record.messages, 6U);
}

TEST(CoupledCollectives, TakeAsLongAsStepsWhereMembersStartTogether) {
  for (const int ranks : {1, 2, 5, 8}) {
    const auto build = [&](TaskGraph& graph) {
      std::vector<int> all;
      for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
      const DimensionId tp = add_dimension(graph, "tp", {all});
      ProgramBuilder program(graph, "all");
      program.collective(tp, CollectiveKind::kAllGather, Bytes(40'000), kCommStream);
      program.collective(tp, CollectiveKind::kAllGather, Bytes(80'000), kCommStream);
      program.run_on(all);
    };
    TaskGraph in_steps;
    TaskGraph together;
    build(in_steps);
    build(together);
    const RunResult each = test::play_on_wires(in_steps);
    const RunResult coupled = play(together);
    EXPECT_EQ(coupled.record.finished_at, each.record.finished_at) << ranks;
    EXPECT_EQ(coupled.record.sent, each.record.sent) << ranks;
    EXPECT_EQ(coupled.record.messages, each.record.messages) << ranks;
  }
}

// Two phases with different messages: up to the switch, then down: 2 us for the bytes and 1 us of latency each.
TEST(CoupledCollectives, GoThroughTheirPhasesOneAfterAnother) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllReduce, Bytes(2000), kCommStream);
  program.run_on({0, 1});
  static const test::PlainSwitch kSwitch;
  const RunResult result = play(graph, {.algorithm = &kSwitch});
  EXPECT_EQ(result.record.finished_at[1], TimePoint(6_us));
  EXPECT_EQ(result.record.sent[1][0], Bytes(2000));  // what comes down is not sent
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(2000), .layout = &graph.layouts[0]};
  EXPECT_EQ(count_phases(kSwitch, call), 2);
}

// A ring of three: 2 steps of 1 us latency, whose 300 bytes would take 0.3 us more each.
TEST(CoupledCollectives, OfFewBytesTakeTheLatencyOfTheirSteps) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1, 2}});
  ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllGather, Bytes(900), kCommStream);
  program.run_on({0, 1, 2});
  const RunResult result = play(graph);
  EXPECT_EQ(result.record.finished_at[0], TimePoint(2_us));
  EXPECT_EQ(result.record.sent[0][0], Bytes(600));
}

class Overhead final : public CallOverhead {
 public:
  [[nodiscard]] Duration of(const CollectiveCall&) const override { return 3_us; }
  [[nodiscard]] Duration of(const MessageBetween&) const override { return {}; }
};

TEST(CoupledCollectives, BeginAfterTheirOverhead) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  program.run_on({0, 1});
  const Overhead overhead;
  EXPECT_EQ(play(graph, {.overhead = &overhead}).record.finished_at[0], TimePoint(5_us));
}

TEST(CoupledCollectives, SayWhoIsMissing) {
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
  EXPECT_EQ(result.stall.blocked.at(0).waits_for, "call 0 of 'tp' (all_reduce), which waits for rank 1");
}

}  // namespace
}  // namespace ringwright::coupled_collectives_test
