#include "core/run/step/rehearsal.h"

#include <gtest/gtest.h>

#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::rehearsal_test {
namespace {

using namespace ringwright::literals;

constexpr DimensionId kTp(0);

// Three identical calls of a segment by two ranks: a gather of 6000 bytes, 4 us of computing, a gather of 2000 bytes.
TaskGraph two_ranks() {
  TaskGraph graph;
  test::add_dimension(graph, "tp", {{0, 1}});
  graph.labels = {"task"};
  graph.collectives = {{.kind = CollectiveKind::kAllGather, .bytes = Bytes(6000)},
                       {.kind = CollectiveKind::kAllGather, .bytes = Bytes(2000)},
                       {.kind = CollectiveKind::kAllGather, .bytes = Bytes(10)}};  // never called
  graph.works = {{.name = "work", .kernels = {{.name = "kernel", .flops = Flops(4e6)}}}};
  graph.segments = {{.tasks = {{.kind = TaskKind::kCollective, .dimension = kTp, .detail = 0},
                               {.kind = TaskKind::kCompute, .detail = 0},
                               {.kind = TaskKind::kCollective, .dimension = kTp, .detail = 1}},
                     .dependencies = {},
                     .call_dependencies = 0}};
  Program program{.name = "all", .tasks = {}, .dependencies = {}, .stream_count = 1};
  for (int call = 0; call < 3; ++call) program.tasks.push_back({.kind = TaskKind::kSegment});
  graph.programs = {program};
  graph.program_of = {ProgramId(0), ProgramId(0)};
  test::place_ranks(graph, 2);
  return graph;
}

const RankClasses kOneClass{.class_of = {ClassId(0), ClassId(0)}, .representative = {RankId(0)}, .size = {2}};

// On wires of 1 us and 1 GB/s.
RunResult play(const TaskGraph& graph, const RehearsedCalls* rehearsed, const ExecutorOptions& options) {
  static const test::PlainRing kRing;
  Engine engine;
  test::WireNetwork network(engine, 1_us, 1_GBps);
  const test::AlwaysChoose chooser(kRing);
  const test::PlainCompute compute;
  return execute({.engine = engine,
                  .graph = graph,
                  .classes = kOneClass,
                  .network = network,
                  .chooser = chooser,
                  .compute = compute,
                  .rehearsed = rehearsed},
                 options);
}

RehearsedCalls rehearse(const TaskGraph& graph) {
  Rehearsal rehearsal(graph, kOneClass);
  for (std::size_t round = 0; round < rehearsal.rounds(); ++round) {
    EXPECT_TRUE(rehearsal.note(play(rehearsal.round(round), nullptr, rehearsal.options()), {{}}));
  }
  return rehearsal.take();
}

const RehearsedCall* find(const RehearsedCalls& calls, std::uint32_t spec, TaskKind kind = TaskKind::kCollective) {
  return calls.find(ClassId(0), {.kind = kind, .dimension = kTp, .detail = spec});
}

TEST(Rehearsal, SimulatesEachCollectiveOfTheSegmentsOnce) {
  const TaskGraph graph = two_ranks();
  EXPECT_EQ(Rehearsal(graph, kOneClass).rounds(), 2U);
  const RehearsedCalls calls = rehearse(graph);
  // One step, in which half of the bytes go to the other rank.
  ASSERT_NE(find(calls, 0), nullptr);
  EXPECT_EQ(find(calls, 0)->time, 4_us);
  EXPECT_EQ(find(calls, 0)->sent, Bytes(3000));
  EXPECT_EQ(find(calls, 0)->messages, 1U);
  ASSERT_NE(find(calls, 1), nullptr);
  EXPECT_EQ(find(calls, 1)->time, 2_us);
  EXPECT_EQ(find(calls, 2), nullptr);
}

TEST(Rehearsal, MakesARunOfFewerEventsWithTheSameRecord) {
  const TaskGraph graph = two_ranks();
  const RehearsedCalls calls = rehearse(graph);
  const RunResult at_once = play(graph, &calls, {.pass_segments_at_once = true});
  const RunResult by_task = play(graph, nullptr, {.pass_segments_at_once = true});
  ASSERT_EQ(at_once.outcome, RunOutcome::kFinished);
  EXPECT_EQ(at_once.record.finished_at[0], TimePoint(30_us));  // three times 4 + 4 + 2
  EXPECT_EQ(at_once.record.finished_at, by_task.record.finished_at);
  EXPECT_EQ(at_once.record.time_in, by_task.record.time_in);
  EXPECT_EQ(at_once.record.sent, by_task.record.sent);
  EXPECT_EQ(at_once.record.messages, 6U);
  EXPECT_EQ(by_task.record.messages, 6U);
  ASSERT_EQ(at_once.record.calls.size(), 2U);
  EXPECT_EQ(at_once.record.calls[0].count, 3U);
  EXPECT_EQ(at_once.record.calls[0].sum, by_task.record.calls[0].sum);
}

// Three calls of a segment: 4 us of computing, two messages of 3000 bytes that two ranks store one after another into
// each other's memory, 4 us of computing.
TaskGraph two_ranks_that_exchange() {
  TaskGraph graph = two_ranks();
  graph.messages = {{.peer = 1, .bytes = Bytes(3000), .relative = true, .moved_by = MovedBy::kSender}};
  const auto send = [](std::uint32_t dependency) {
    return Task{.kind = TaskKind::kSend, .stream = 1, .dimension = kTp, .first_dependency = dependency,
                .dependency_count = 1};
  };
  const Task receive{.kind = TaskKind::kReceive, .stream = kNoStream, .dimension = kTp};
  const Task compute{.kind = TaskKind::kCompute, .detail = 0};
  Task last = compute;
  last.first_dependency = 2;
  last.dependency_count = 2;
  graph.segments = {{.tasks = {compute, send(0), receive, send(1), receive, last},
                     .dependencies = {0, 2, 3, 4},
                     .call_dependencies = 0}};
  graph.programs[0].stream_count = 2;
  return graph;
}

TEST(Rehearsal, SimulatesMessagesFromStartToArrival) {
  const TaskGraph graph = two_ranks_that_exchange();
  EXPECT_EQ(check_task_graph(graph), "");
  const RehearsedCalls calls = rehearse(graph);
  ASSERT_NE(find(calls, 0, TaskKind::kSend), nullptr);
  EXPECT_EQ(find(calls, 0, TaskKind::kSend)->time, 4_us);
  EXPECT_EQ(find(calls, 0, TaskKind::kSend)->sent, Bytes(3000));
  EXPECT_EQ(find(calls, 0), nullptr) << "no collective of this number";
}

TEST(Rehearsal, MakesARunWithMessagesOfFewerEventsWithTheSameRecord) {
  const TaskGraph graph = two_ranks_that_exchange();
  const RehearsedCalls calls = rehearse(graph);
  const RunResult at_once = play(graph, &calls, {.pass_segments_at_once = true});
  const RunResult by_task = play(graph, nullptr, {});
  ASSERT_EQ(at_once.outcome, RunOutcome::kFinished);
  EXPECT_EQ(at_once.record.finished_at[0], TimePoint(48_us));  // three times 4 + 4 + 4 + 4
  EXPECT_EQ(at_once.record.finished_at, by_task.record.finished_at);
  EXPECT_EQ(at_once.record.time_in, by_task.record.time_in);
  EXPECT_EQ(at_once.record.sent, by_task.record.sent);
  EXPECT_EQ(at_once.record.messages, 6U);
  EXPECT_EQ(by_task.record.messages, 6U);
}

TEST(Rehearsal, CountsForNothingWhereLinksAreNotWatched) {
  const TaskGraph graph = two_ranks();
  RehearsedCalls calls = rehearse(graph);
  // This network model cannot detect whether another transfer uses the link.
  calls.of_class[0][0].links = {{.link = LinkId(0), .usage = {}}};
  EXPECT_EQ(play(graph, &calls, {.pass_segments_at_once = true}).outcome, RunOutcome::kDisturbed);
}

}  // namespace
}  // namespace ringwright::rehearsal_test
