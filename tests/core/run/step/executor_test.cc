#include "core/run/step/executor.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::executor_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;


RunResult play(TaskGraph& graph, const ExecutorOptions& options = {}, const CollectiveAlgorithm* algorithm = nullptr) {
  return test::play_on_wires(graph, {.algorithm = algorithm}, options);
}

TimePoint end_of(const RunResult& result, std::size_t rank) { return result.record.finished_at[rank]; }

TEST(Executor, TasksOfOneStreamRunOneAfterAnother) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(3_us);
  program.compute(4_us);
  program.run_on({0});
  const RunResult result = play(graph);
  EXPECT_EQ(result.outcome, RunOutcome::kFinished);
  EXPECT_EQ(end_of(result, 0), TimePoint(7_us));
}

TEST(Executor, StreamsRunSideBySideAndDependenciesHold) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  const auto first = program.compute(3_us);
  program.compute(5_us, {first}, kCommStream);
  program.compute(4_us);
  program.run_on({0});
  // Stream 0: 3 + 4 us; stream 1 starts at 3 us and ends at 8 us.
  EXPECT_EQ(end_of(play(graph), 0), TimePoint(8_us));
}

TEST(Executor, AMessageTakesLatencyPlusSizeOverBandwidth) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream);
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.run_on({1});
  const RunResult result = play(graph);
  EXPECT_EQ(end_of(result, 0), TimePoint(2_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(2_us));
  EXPECT_EQ(result.record.sent[0][0], Bytes(1000));
  EXPECT_EQ(result.record.messages, 1U);
}

TEST(Executor, TheNthReceiveTakesTheNthSendOfItsChannel) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000), .channel = 0}, kCommStream);
  sender.send(pp, {.peer = 1, .bytes = Bytes(3000), .channel = 1}, kCommStream);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000), .channel = 0}, kCommStream);
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  const auto first = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000), .channel = 0});
  const auto second = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000), .channel = 0}, {first});
  receiver.compute(1_us, {first});   // from 2 us
  receiver.compute(1_us, {second});  // sends end at 2, 6 and 8 us
  receiver.run_on({1});
  EXPECT_EQ(end_of(play(graph), 1), TimePoint(9_us));
}

TEST(Executor, PeersOfARingMayBeOffsets) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1, 2}});
  ProgramBuilder program(graph, "all");
  program.send(tp, {.peer = 1, .bytes = Bytes(1000), .relative = true}, kCommStream);
  program.receive(tp, {.peer = 2, .bytes = Bytes(1000), .relative = true});
  program.run_on({0, 1, 2});
  const RunResult result = play(graph);
  EXPECT_EQ(result.outcome, RunOutcome::kFinished);
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(end_of(result, rank), TimePoint(2_us)) << rank;
  EXPECT_EQ(result.record.messages, 3U);
}

TEST(Executor, AReceiveThatLagsTakesWhatWasSentBeforeTheRun) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  const auto worked = sender.compute(5_us);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream, {worked});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  const auto message = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000), .lag = 1});
  receiver.compute(1_us, {message});
  receiver.run_on({1});
  graph.iterations = 2;
  // At once in the first iteration; in the second it takes the first send, which arrives at 7 us.
  const RunResult result = play(graph);
  EXPECT_EQ(result.outcome, RunOutcome::kFinished);
  EXPECT_EQ(end_of(result, 1), TimePoint(8_us));
}

TEST(Executor, ARingTakesItsClosedForm) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1, 2, 3}});
  ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllGather, Bytes(4000), kCommStream);
  program.run_on({0, 1, 2, 3});
  const RunResult result = play(graph);
  // 3 steps of 1 us + 1000 B / 1 GB/s.
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(end_of(result, rank), TimePoint(6_us));
  EXPECT_EQ(result.record.sent[2][0], Bytes(3000));
}

TEST(Executor, ALateRankHoldsBackOnlyWhoNeedsIt) {
  TaskGraph graph;
  test::add_late_member(graph, {.call = {CollectiveKind::kAllGather, Bytes(3000)},
                                .early = {0, 1},
                                .late = 2,
                                .by = 10_us});
  const RunResult result = play(graph);
  // Rank 2's first piece leaves at 10 us; rank 0 has it at 12 and forwards it by 14. Rank 0's and 1's pieces were
  // waiting at rank 2, which needs 2 us a step for its own sends.
  EXPECT_EQ(end_of(result, 0), TimePoint(14_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(14_us));
  EXPECT_EQ(end_of(result, 2), TimePoint(14_us));
}

TEST(Executor, AStepThatWaitsForEveryoneWaitsForTheLast) {
  const test::PlainSwitch algorithm;
  TaskGraph graph;
  test::add_late_member(graph, {.call = {CollectiveKind::kAllReduce, Bytes(1000)},
                                .early = {0, 2},
                                .late = 1,
                                .by = 5_us});
  const RunResult result = play(graph, {}, &algorithm);
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(end_of(result, rank), TimePoint(9_us));
}

TEST(Executor, CallsOfOneDimensionMatchInOrderEvenWhenRanksAreApart) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder fast(graph, "fast");
  fast.collective(tp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  fast.collective(tp, CollectiveKind::kAllGather, Bytes(4000), kCommStream);
  fast.run_on({0});
  ProgramBuilder slow(graph, "slow");
  const auto before = slow.compute(10_us);
  slow.collective(tp, CollectiveKind::kAllGather, Bytes(2000), kCommStream, {before});
  const auto between = slow.compute(10_us);
  slow.collective(tp, CollectiveKind::kAllGather, Bytes(4000), kCommStream, {between});
  slow.run_on({1});
  const RunResult result = play(graph);
  // First call ends at 10 + 2 for both; rank 1 begins the second at 20 us, 3 us long.
  EXPECT_EQ(end_of(result, 0), TimePoint(23_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(23_us));
}

TEST(Executor, IterationsFollowOneAnotherOnEachRank) {
  TaskGraph graph;
  graph.iterations = 3;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  const auto work = program.compute(5_us);
  program.collective(tp, CollectiveKind::kAllGather, Bytes(2000), kCommStream, {work});
  program.run_on({0, 1});
  const RunResult result = play(graph, {.warmup_iterations = 1});
  EXPECT_EQ(result.record.iteration_end,
            (std::vector{TimePoint(7_us), TimePoint(14_us), TimePoint(21_us)}));
  // Only the two iterations after warm-up are counted.
  EXPECT_EQ(result.record.time_in[0][kComputing], 10_us);
  EXPECT_EQ(result.record.time_in[0][communicating(tp)], 4_us);
}

TEST(Executor, TimeIsBookedByWhatHappensTogether) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  program.collective(dp, CollectiveKind::kAllGather, Bytes(8000), kCommStream);  // 1 + 4 us
  program.compute(2_us);
  program.run_on({0, 1});
  const RunResult result = play(graph);
  const auto& time = result.record.time_in[0];
  EXPECT_EQ(time[kComputing | communicating(dp)], 2_us);  // hidden
  EXPECT_EQ(time[communicating(dp)], 3_us);               // exposed
  EXPECT_EQ(time[kComputing], 0_us);
  EXPECT_EQ(time[0], 0_us);
}

TEST(Executor, WaitingForALateMemberIsNotCommunication) {
  TaskGraph graph;
  const DimensionId dp = test::add_late_member(graph, {.call = {CollectiveKind::kAllGather, Bytes(2000)},
                                                       .early = {0},
                                                       .late = 1,
                                                       .by = 10_us});
  const RunResult result = play(graph);
  EXPECT_EQ(result.record.time_in[0][0], 10_us);
  EXPECT_EQ(result.record.time_in[0][communicating(dp)], 2_us);
  EXPECT_EQ(result.record.time_in[1][communicating(dp)], 2_us);
}

TEST(Executor, ASlowRankComputesLonger) {
  TaskGraph graph;
  ProgramBuilder program(graph, "all");
  program.compute(10_us);
  program.run_on({0, 1});
  graph.compute_slowdown = {1.0, 1.5};
  const RunResult result = play(graph);
  EXPECT_EQ(end_of(result, 0), TimePoint(10_us));
  EXPECT_EQ(end_of(result, 1), TimePoint(15_us));
}

TEST(Executor, SpansAreRecordedForTheRequestedClasses) {
  TaskGraph graph;
  ProgramBuilder program(graph, "all");
  program.compute(1_us);
  program.compute(2_us);
  program.run_on({0, 1});
  const RunResult result = play(graph, {.recorded = {ClassId(1)}});
  ASSERT_EQ(result.record.spans.size(), 2U);
  EXPECT_EQ(result.record.spans[1].rank_class, ClassId(1));
  EXPECT_EQ(result.record.spans[1].start, TimePoint(1_us));
  EXPECT_EQ(result.record.spans[1].end, TimePoint(3_us));
}

TEST(Executor, ADeadlockIsAFindingThatNamesWhoWaitsForWhom) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  for (const int rank : {0, 1}) {
    ProgramBuilder program(graph, rank == 0 ? "stage 0" : "stage 1");
    const auto got = program.receive(pp, {.peer = 1 - rank, .bytes = Bytes(10)});
    program.send(pp, {.peer = 1 - rank, .bytes = Bytes(10)}, kCommStream, {got});
    program.run_on({rank});
  }
  const RunResult result = play(graph);
  EXPECT_EQ(result.outcome, RunOutcome::kStalled);
  EXPECT_EQ(render(result.stall),
            "the run cannot continue at 0 ps: 2 ranks unfinished\n"
            "  rank 0 (stage 0) in 'receive' waits for message 1 on channel 0 of 'pp' from rank 1, which has sent 0 "
            "there\n"
            "  rank 1 (stage 1) in 'receive' waits for message 1 on channel 0 of 'pp' from rank 0, which has sent 0 "
            "there\n");
}

TEST(Executor, AMissingCollectiveIsReportedWithTheRanksThatNeverCame) {
  TaskGraph graph;
  const DimensionId tp = add_dimension(graph, "tp", {{0, 1, 2}});
  ProgramBuilder calls(graph, "calls");
  calls.collective(tp, CollectiveKind::kAllGather, Bytes(3000), kCommStream);
  calls.run_on({0, 1});
  ProgramBuilder stays_away(graph, "stays away");
  stays_away.compute(1_us);
  stays_away.run_on({2});
  const RunResult result = play(graph);
  EXPECT_EQ(result.outcome, RunOutcome::kStalled);
  EXPECT_EQ(render(result.stall),
            "the run cannot continue at 4 us: 2 ranks unfinished\n"
            "  rank 0 (calls) in 'all_gather' waits for call 0 of 'tp' (all_gather, ring), step 0 of 2, for rank 2\n"
            "  rank 1 (calls) in 'all_gather' waits for call 0 of 'tp' (all_gather, ring), step 1 of 2, for rank 0\n");
}

class Stopper final : public RunObserver {
 public:
  bool on_progress(double done, std::uint64_t) override {
    last_done = done;
    return false;
  }
  double last_done = -1.0;
};

TEST(Executor, AnObserverCanStopALongRun) {
  TaskGraph graph;
  graph.iterations = 600'000;
  ProgramBuilder program(graph, "long");
  program.compute(1_us);
  program.run_on({0});
  Stopper stopper;
  const RunResult result = play(graph, {.observer = &stopper});
  EXPECT_EQ(result.outcome, RunOutcome::kStopped);
  EXPECT_NEAR(stopper.last_done, 5.0 / 6.0, 1e-4);
}

}  // namespace
}  // namespace ringwright::executor_test
