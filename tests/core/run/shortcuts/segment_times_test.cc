#include "core/run/shortcuts/segment_times.h"

#include <gtest/gtest.h>

#include "core/run/step/executor.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::segment_times_test {
namespace {

using namespace ringwright::literals;

constexpr StreamIndex kSide = 1;

// A collective takes 1 us for every 1000 bytes.
class PlainTimes final : public CollectiveTime {
 public:
  [[nodiscard]] Duration time(const CollectiveCall& call) const override { return 1_ns * call.bytes.count(); }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return call.bytes; }
};

// One computation, then `calls` calls of a segment: 4 us of computing, concurrently with which (from its start) 6000
// bytes are gathered, and 3 us of computing that waits for them.
TaskGraph two_ranks(int calls) {
  TaskGraph graph;
  const DimensionId tp = test::add_dimension(graph, "tp", {{0, 1}});
  graph.labels = {"task"};
  graph.collectives = {{.kind = CollectiveKind::kAllGather, .bytes = Bytes(6000)}};
  for (const double picoseconds : {4e6, 3e6, 5e6}) {
    graph.works.push_back({.name = "work", .kernels = {{.name = "kernel", .flops = Flops(picoseconds)}}});
  }
  Segment segment{.tasks = {{.kind = TaskKind::kCollective, .stream = kSide, .dimension = tp, .dependency_count = 1},
                            {.kind = TaskKind::kCompute, .detail = 0},
                            {.kind = TaskKind::kCompute, .detail = 1, .first_dependency = 1, .dependency_count = 1}},
                  .dependencies = {3, 0},
                  .call_dependencies = 1};
  graph.segments = {segment};
  Program program{
      .name = "all", .tasks = {{.kind = TaskKind::kCompute, .detail = 2}}, .dependencies = {}, .stream_count = 2};
  for (std::uint32_t call = 0; call < static_cast<std::uint32_t>(calls); ++call) {
    program.dependencies.push_back(call);
    program.tasks.push_back({.kind = TaskKind::kSegment, .first_dependency = call, .dependency_count = 1});
  }
  graph.programs = {program};
  graph.program_of = {ProgramId(0), ProgramId(0)};
  test::place_ranks(graph, 2);
  return graph;
}

RankClasses one_class() {
  return {.class_of = {ClassId(0), ClassId(0)}, .representative = {RankId(0)}, .size = {2}};
}

RunResult play(const TaskGraph& graph, const RankClasses& classes, bool at_once) {
  EXPECT_EQ(check_task_graph(graph), "");
  static const test::PlainRing kRing;
  Engine engine;
  test::WireNetwork network(engine, 1_us, 1_GBps);
  const test::AlwaysChoose chooser(kRing);
  const test::PlainCompute compute;
  const PlainTimes times;
  return execute({.engine = engine,
                  .graph = graph,
                  .classes = classes,
                  .network = network,
                  .chooser = chooser,
                  .compute = compute,
                  .collective_time = &times},
                 {.pass_segments_at_once = at_once});
}

TEST(SegmentTimes, AreTheSumsOfAFullSimulation) {
  const TaskGraph graph = two_ranks(3);
  // 5 us, then three times: the gather of 6 us outlasts the first computation, 3 us follow.
  const RunResult result = play(graph, one_class(), true);
  EXPECT_EQ(result.record.finished_at[0], TimePoint(32_us));
  EXPECT_EQ(result.record.time_in[0][kComputing], 5_us + 3_us * 3);
  EXPECT_EQ(result.record.time_in[0][kComputing | communicating(DimensionId(0))], 4_us * 3);
  EXPECT_EQ(result.record.time_in[0][communicating(DimensionId(0))], 2_us * 3);
  EXPECT_EQ(result.record.sent[0][0], Bytes(18000));
}

TEST(SegmentTimes, AgreeWithTheSimulationOfEveryTask) {
  const TaskGraph graph = two_ranks(5);
  const RunResult at_once = play(graph, one_class(), true);
  const RunResult by_task = play(graph, one_class(), false);
  EXPECT_EQ(at_once.record.finished_at, by_task.record.finished_at);
  EXPECT_EQ(at_once.record.time_in, by_task.record.time_in);
  EXPECT_EQ(at_once.record.sent, by_task.record.sent);
  ASSERT_EQ(at_once.record.calls.size(), 1U);
  ASSERT_EQ(by_task.record.calls.size(), 1U);
  EXPECT_EQ(at_once.record.calls[0].count, by_task.record.calls[0].count);
  EXPECT_EQ(at_once.record.calls[0].sum, by_task.record.calls[0].sum);
  EXPECT_EQ(at_once.record.calls[0].shortest, by_task.record.calls[0].shortest);
}

TEST(SegmentTimes, HoldForGroupsOfOneClassOnly) {
  const TaskGraph graph = two_ranks(1);
  EXPECT_TRUE(segments_stand_alone(graph, one_class()));
  EXPECT_FALSE(segments_stand_alone(graph, identity_classes(2)));
  // Then the run simulates every task, with the same end.
  EXPECT_EQ(play(graph, identity_classes(2), true).record.finished_at[1], TimePoint(14_us));
}

TEST(SegmentTimes, DoNotHoldWhereAnEarlierTaskMayKeepAStreamBusy) {
  TaskGraph graph = two_ranks(1);
  Program& program = graph.programs[0];
  program.tasks.insert(program.tasks.begin(),
                       {.kind = TaskKind::kCollective, .stream = kSide, .dimension = DimensionId(0)});
  program.dependencies = {1};  // the call waits for the computation, and not for the collective
  program.tasks[2].first_dependency = 0;
  EXPECT_EQ(check_task_graph(graph), "");
  EXPECT_FALSE(segments_stand_alone(graph, one_class()));
  program.tasks[2].first_dependency = 0;
  program.dependencies = {0};
  EXPECT_TRUE(segments_stand_alone(graph, one_class()));
}

// A segment in which rank r sends to r + 1, and receives what r - 1 sends.
TaskGraph with_messages(std::vector<Task> messages, const MessageSpec& spec) {
  TaskGraph graph = two_ranks(1);
  graph.messages = {spec};
  Segment& segment = graph.segments[0];
  for (Task& task : messages) task.dimension = DimensionId(0);
  messages.push_back({.kind = TaskKind::kCompute, .detail = 0});
  segment = {.tasks = std::move(messages), .dependencies = {}, .call_dependencies = 1};
  return graph;
}

TEST(SegmentTimes, HoldWhereASegmentReceivesWhatItSends) {
  const MessageSpec next{.peer = 1, .bytes = Bytes(8), .relative = true, .moved_by = MovedBy::kSender};
  const Task send{.kind = TaskKind::kSend, .stream = kSide};
  const Task receive{.kind = TaskKind::kReceive, .stream = kNoStream};
  EXPECT_TRUE(segments_stand_alone(with_messages({send, receive}, next), one_class()));
  EXPECT_TRUE(segments_stand_alone(with_messages({send, send, receive, receive}, next), one_class()));
  EXPECT_FALSE(segments_stand_alone(with_messages({send}, next), one_class())) << "received elsewhere";
  EXPECT_FALSE(segments_stand_alone(with_messages({receive, send}, next), one_class())) << "sent elsewhere";
  EXPECT_FALSE(segments_stand_alone(with_messages({send, receive}, next), identity_classes(2)));
  EXPECT_FALSE(segments_stand_together(with_messages({send, receive}, next), identity_classes(2)));
  MessageSpec absolute = next;
  absolute.relative = false;
  MessageSpec of_last_step = next;
  of_last_step.lag = 1;
  MessageSpec awaited_by_host = next;
  awaited_by_host.moved_by = MovedBy::kLibrary;
  for (const MessageSpec& other : {absolute, of_last_step, awaited_by_host}) {
    EXPECT_FALSE(segments_stand_alone(with_messages({send, receive}, other), one_class()));
  }
}

TEST(SegmentTimes, OfASlowRankAreLonger) {
  TaskGraph graph = two_ranks(2);
  graph.compute_slowdown = {1.5, 1.5};
  // 7.5 us, then twice: 6 us of computing and of gathering, 4.5 us.
  EXPECT_EQ(play(graph, one_class(), true).record.finished_at[0], TimePoint(28'500_ns));
}

}  // namespace
}  // namespace ringwright::segment_times_test
