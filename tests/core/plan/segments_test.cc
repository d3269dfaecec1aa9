#include "core/plan/segments.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_builder.h"

namespace ringwright::segments_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;

constexpr StreamIndex kSide = 1;

// Two labels ("F0", "F1"), one work, one collective among two ranks, and a segment of three tasks: a collective that
// starts with the call's dependencies, a computation that waits for it, and one more.
TaskGraph graph_with_segment() {
  TaskGraph graph;
  const DimensionId tp = test::add_dimension(graph, "tp", {{0, 1}});
  graph.works.resize(1);
  graph.collectives.resize(1);
  graph.labels = {"F0", "F1", "gather"};
  Segment segment;
  segment.call_dependencies = 2;
  segment.dependencies = {3, 4, 0};  // both of the call's; the first task
  segment.tasks = {{.kind = TaskKind::kCollective, .stream = kSide, .dimension = tp, .dependency_count = 2, .label = 2},
                   {.kind = TaskKind::kCompute, .first_dependency = 2, .dependency_count = 1, .label = kCallersLabel},
                   {.kind = TaskKind::kCompute, .first_dependency = 3, .dependency_count = 0, .label = kCallersLabel}};
  graph.segments.push_back(segment);
  return graph;
}

// Two computations, then two calls, each of which depends on the two tasks before it.
Program caller() {
  Program program{.name = "stage 0", .tasks = {}, .dependencies = {0, 1, 1, 2}, .stream_count = 2};
  program.tasks = {{.kind = TaskKind::kCompute},
                   {.kind = TaskKind::kCompute},
                   {.kind = TaskKind::kSegment, .first_dependency = 0, .dependency_count = 2, .label = 0},
                   {.kind = TaskKind::kSegment, .first_dependency = 2, .dependency_count = 2, .label = 1}};
  return program;
}

std::vector<std::uint32_t> dependencies(const Program& program, std::size_t task) {
  const auto first = program.dependencies.begin() + program.tasks[task].first_dependency;
  return {first, first + program.tasks[task].dependency_count};
}

TaskGraph calling_graph() {
  TaskGraph graph = graph_with_segment();
  graph.programs = {caller()};
  graph.program_of.assign(2, ProgramId(0));
  return graph;
}

TEST(Segments, ReplaceTheirCallsWhenWrittenOut) {
  const Program written = write_out(graph_with_segment(), caller());
  ASSERT_EQ(written.tasks.size(), 8U);
  EXPECT_EQ(written.stream_count, 2);
  EXPECT_EQ(written.tasks[2].kind, TaskKind::kCollective);
  EXPECT_THAT(dependencies(written, 2), ElementsAre(0, 1));
  EXPECT_THAT(dependencies(written, 3), ElementsAre(2));
  // The second call depends on the first, whose last task is number 4.
  EXPECT_THAT(dependencies(written, 5), ElementsAre(1, 4));
  EXPECT_THAT(dependencies(written, 6), ElementsAre(5));
}

TEST(Segments, TakeTheLabelOfTheirCall) {
  const Program written = write_out(graph_with_segment(), caller());
  EXPECT_EQ(written.tasks[3].label, 0U);
  EXPECT_EQ(written.tasks[6].label, 1U);
  EXPECT_EQ(written.tasks[5].label, 2U);  // its own
}

// Cycles of one call each: of the three tasks that it stands for.
TEST(Segments, ALoopOfCallsIsWrittenOutAsALoopOfTheirTasks) {
  Program program = caller();
  program.loop = {.first = 2, .size = 1, .cycles = 2};
  EXPECT_EQ(write_out(graph_with_segment(), program).loop, (Loop{.first = 2, .size = 3, .cycles = 2}));
}

TEST(Segments, AProgramWithoutCallsIsWrittenOutAsItIs) {
  const TaskGraph graph = graph_with_segment();
  const Program program = write_out(graph, caller());
  const Program again = write_out(graph, program);
  EXPECT_EQ(again.tasks, program.tasks);
  EXPECT_EQ(again.dependencies, program.dependencies);
}

TEST(Segments, TasksAreVisitedWithTheNumberOfCalls) {
  const TaskGraph graph = graph_with_segment();
  std::uint32_t computations = 0;
  std::uint32_t collectives = 0;
  visit_tasks(graph, caller(), [&](const Task& task, std::uint32_t times) {
    (task.kind == TaskKind::kCompute ? computations : collectives) += times;
  });
  EXPECT_EQ(computations, 6U);  // two of the program, two of each call
  EXPECT_EQ(collectives, 2U);
  EXPECT_THAT(count_calls(graph, caller()), ElementsAre(2));
  EXPECT_EQ(count_tasks(graph, caller()), 8U);
}

TEST(Segments, AreWrittenOutForSomeRanks) {
  TaskGraph graph = calling_graph();
  graph.program_of = {ProgramId(0), ProgramId(0), ProgramId(0)};
  const TaskGraph some = written_out_for(graph, {false, true, true});
  ASSERT_EQ(some.programs.size(), graph.programs.size() + 1);
  EXPECT_EQ(some.program_of[0], ProgramId(0));
  EXPECT_EQ(some.program_of[1], ProgramId(graph.programs.size()));
  EXPECT_EQ(some.program_of[2], some.program_of[1]);
  EXPECT_EQ(some.programs.back().tasks.size(), count_tasks(graph, graph.programs[0]));
  EXPECT_EQ(some.programs.front().tasks.size(), graph.programs[0].tasks.size());
}

// A collective, a call that waits for it, `between` more, a collective, a call, a collective.
TaskGraph graph_with_collectives(std::uint32_t between) {
  TaskGraph graph = calling_graph();
  graph.segments.front().call_dependencies = 1;
  graph.segments.front().dependencies = {3, 0};
  graph.segments.front().tasks.front().dependency_count = 1;
  graph.segments.front().tasks[1].first_dependency = 1;
  graph.segments.front().tasks[2].first_dependency = 2;
  Program program{.name = "stage 0", .tasks = {}, .dependencies = {0}, .stream_count = 2};
  const Task collective{.kind = TaskKind::kCollective, .stream = kSide, .dimension = DimensionId(0)};
  const Task call{.kind = TaskKind::kSegment, .first_dependency = 0, .dependency_count = 1};
  program.tasks = {collective, call, call};
  program.tasks.insert(program.tasks.end(), between, call);
  program.tasks.insert(program.tasks.end(), {collective, call, collective});
  program.dependencies.assign(program.tasks.size(), 0);
  for (std::size_t i = 2; i < program.tasks.size(); ++i) {  // each on the task before it
    program.tasks[i].first_dependency = static_cast<std::uint32_t>(i);
    program.tasks[i].dependency_count = 1;
    program.dependencies[i] = static_cast<std::uint32_t>(i - 1);
  }
  graph.programs = {program};
  return graph;
}

TEST(Segments, AreWrittenOutWhileOtherCollectivesAreUnderWay) {
  const TaskGraph graph = graph_with_collectives(8);
  const auto around = written_out_around_collectives(graph);
  ASSERT_TRUE(around);
  // Of the calls, those that wait for the first collective and stand before the second one stay; the last has 3 tasks.
  EXPECT_EQ(std::ranges::count(around->programs[0].tasks, TaskKind::kSegment, &Task::kind), 10);
  EXPECT_EQ(around->programs[0].tasks.size(), graph.programs[0].tasks.size() + 2);
  EXPECT_EQ(check_task_graph(*around), "");
}

TEST(Segments, StayAsTheyAreWhereCollectivesAreSpreadOverThem) {
  EXPECT_FALSE(written_out_around_collectives(graph_with_collectives(0)));
}

TEST(Segments, OfASoundGraphHaveNothingToComplainAbout) {
  EXPECT_EQ(check_task_graph(calling_graph()), "");
}

TEST(Segments, ACallHasAsManyDependenciesAsItsSegmentTakes) {
  TaskGraph graph = calling_graph();
  graph.programs[0].tasks[3].dependency_count = 1;
  EXPECT_EQ(check_task_graph(graph), "program 'stage 0', task 3: has other dependencies than its segment takes");
}

TEST(Segments, MustExistAndBeCalledFromTheComputeStream) {
  TaskGraph missing = calling_graph();
  missing.programs[0].tasks[2].detail = 1;
  EXPECT_EQ(check_task_graph(missing), "program 'stage 0', task 2: its detail is out of range");
  TaskGraph aside = calling_graph();
  aside.programs[0].tasks[2].stream = kSide;
  EXPECT_EQ(check_task_graph(aside), "program 'stage 0', task 2: calls a segment away from the compute stream");
}

TEST(Segments, EndOnTheComputeStreamAndCallNoOthers) {
  TaskGraph aside = calling_graph();
  aside.segments[0].tasks.back().stream = kSide;
  EXPECT_EQ(check_task_graph(aside), "segment 0, task 0: it does not end on the compute stream");
  TaskGraph nested = calling_graph();
  nested.segments[0].tasks[1].kind = TaskKind::kSegment;
  EXPECT_EQ(check_task_graph(nested), "segment 0, task 1: calls a segment");
}

TEST(Segments, DependOnEarlierTasksOrOnTheCallsDependencies) {
  TaskGraph later = calling_graph();
  later.segments[0].dependencies[2] = 2;
  EXPECT_EQ(check_task_graph(later), "segment 0, task 1: depends on a task that does not come before it");
  TaskGraph beyond = calling_graph();
  beyond.segments[0].dependencies[1] = 5;  // a third dependency of the call
  EXPECT_EQ(check_task_graph(beyond), "segment 0, task 0: depends on a task that does not come before it");
}

}  // namespace
}  // namespace ringwright::segments_test
