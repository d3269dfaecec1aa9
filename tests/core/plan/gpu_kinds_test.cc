#include "core/plan/gpu_kinds.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::gpu_kinds_test {
namespace {

using testing::ElementsAre;

// Two ranks of one program: a call of a segment with work 0, then work 1 by itself.
TaskGraph two_ranks() {
  TaskGraph graph;
  graph.works = {Work{.name = "layer", .kernels = {}}, Work{.name = "optimizer", .kernels = {}}};
  graph.segments = {Segment{.tasks = {{.kind = TaskKind::kCompute, .detail = 0}}, .dependencies = {}}};
  graph.programs = {Program{.name = "stage 0",
                            .tasks = {{.kind = TaskKind::kSegment, .detail = 0},
                                      {.kind = TaskKind::kCompute, .detail = 1}},
                            .dependencies = {}}};
  graph.program_of = {ProgramId(0), ProgramId(0)};
  return graph;
}

TEST(GpuKinds, OneKindChangesNothing) {
  TaskGraph graph = two_ranks();
  split_by_gpu(graph, {});
  EXPECT_EQ(graph.programs.size(), 1U);
  split_by_gpu(graph, std::vector<int>{0, 0});
  EXPECT_EQ(graph.programs.size(), 1U);
  EXPECT_EQ(graph.works.size(), 2U);
}

TEST(GpuKinds, ARankOfAnotherKindHasTheSameTasksWithItsOwnWork) {
  TaskGraph graph = two_ranks();
  split_by_gpu(graph, std::vector<int>{0, 1});
  EXPECT_THAT(graph.program_of, ElementsAre(ProgramId(0), ProgramId(1)));
  ASSERT_EQ(graph.programs.size(), 2U);
  const Program& own = graph.programs[1];
  EXPECT_EQ(own.name, "stage 0");
  ASSERT_EQ(own.tasks.size(), 2U);
  EXPECT_EQ(own.tasks[0].kind, TaskKind::kSegment);
  const Segment& segment = graph.segments[own.tasks[0].detail];
  EXPECT_EQ(graph.works[segment.tasks[0].detail].name, "layer");
  EXPECT_EQ(graph.works[segment.tasks[0].detail].gpu, 1);
  EXPECT_EQ(graph.works[own.tasks[1].detail].name, "optimizer");
  EXPECT_EQ(graph.works[own.tasks[1].detail].gpu, 1);
  EXPECT_EQ(graph.works[0].gpu, 0);
}

}  // namespace
}  // namespace ringwright::gpu_kinds_test
