#include "workload/program_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Kernel kernel(const std::string& name) {
  return {.family = KernelFamily::kCopy, .name = name, .bytes = Bytes(8)};
}

std::vector<std::uint32_t> dependencies(const Program& program, std::size_t task) {
  const auto first = program.dependencies.begin() + program.tasks[task].first_dependency;
  return {first, first + program.tasks[task].dependency_count};
}

const Channel kTensor{.dimension = DimensionId(0), .stream = 1};
const CollectiveSpec kGather{.kind = CollectiveKind::kAllGather, .bytes = Bytes(64)};

TEST(ProgramWriter, KernelsBetweenTwoCommunicationsAreOneTask) {
  GraphTables tables;
  const PieceId a = tables.add_piece({kernel("a")});
  const PieceId b = tables.add_piece({kernel("b")});
  ProgramWriter writer(tables, "stage 0");
  writer.name_work({.label = "F0", .work = "forward"});
  writer.compute(a);
  writer.compute(b);
  writer.compute(a);
  writer.wait(writer.collective(kTensor, kGather, "gather"));
  writer.compute(b);
  const Program program = writer.finish(2);
  TaskGraph graph;
  tables.move_into(graph);

  ASSERT_EQ(program.tasks.size(), 3U);
  EXPECT_THAT(dependencies(program, 1), ElementsAre(0));
  EXPECT_THAT(dependencies(program, 2), ElementsAre(1));
  const Work& work = graph.works[program.tasks[0].detail];
  EXPECT_EQ(work.name, "forward");
  ASSERT_EQ(work.kernels.size(), 2U);
  EXPECT_EQ(work.kernels[0].launches, 2);
  EXPECT_EQ(work.kernels[1].launches, 1);
}

TEST(ProgramWriter, ComputationsAfterACommunicationDoNotWaitForItUnlessTold) {
  GraphTables tables;
  const PieceId a = tables.add_piece({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.compute(a);
  const TaskIndex gathered = writer.collective(kTensor, kGather, "gather");
  writer.compute(a);
  const TaskIndex second = writer.collective(kTensor, kGather, "gather");
  writer.wait(gathered);
  writer.wait(second);
  writer.compute(a);
  const Program program = writer.finish(2);
  EXPECT_THAT(dependencies(program, 2), IsEmpty());
  EXPECT_THAT(dependencies(program, 4), ElementsAre(gathered, second));
}

TEST(ProgramWriter, CommunicationWaitsForWhatTheComputeStreamWaitsFor) {
  GraphTables tables;
  ProgramWriter writer(tables, "stage 0");
  const TaskIndex message = writer.receive(kTensor, {.peer = 0, .bytes = Bytes(8)}, "receive");
  writer.wait(message);
  writer.collective(kTensor, kGather, "gather");
  const Program program = writer.finish(2);
  EXPECT_EQ(program.tasks[0].stream, kNoStream);
  EXPECT_THAT(dependencies(program, 0), IsEmpty());
  EXPECT_THAT(dependencies(program, 1), ElementsAre(message));
}

TEST(ProgramWriter, ReceivesWaitForNothing) {
  GraphTables tables;
  const PieceId a = tables.add_piece({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.compute(a);
  writer.receive(kTensor, {.peer = 0, .bytes = Bytes(8)}, "receive");
  EXPECT_THAT(dependencies(writer.finish(1), 1), IsEmpty());
}

TEST(GraphTables, KeepDistinctEntriesOnly) {
  GraphTables tables;
  const PieceId a = tables.add_piece({kernel("a")});
  EXPECT_EQ(tables.add_piece({kernel("a")}), a);
  EXPECT_NE(tables.add_piece({kernel("b")}), a);
  EXPECT_EQ(tables.work({a, a}, "forward"), tables.work({a, a}, "forward"));
  EXPECT_NE(tables.work({a}, "forward"), tables.work({a, a}, "forward"));
  EXPECT_EQ(tables.collective(kGather), tables.collective(kGather));
  EXPECT_NE(tables.collective(kGather), tables.collective({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(64)}));
  EXPECT_EQ(tables.message({.peer = 1, .bytes = Bytes(8)}), tables.message({.peer = 1, .bytes = Bytes(8)}));
  EXPECT_NE(tables.message({.peer = 1, .bytes = Bytes(8)}),
            tables.message({.peer = 1, .bytes = Bytes(8), .channel = 1}));
  EXPECT_EQ(tables.label("F0"), tables.label("F0"));
}

}  // namespace
}  // namespace ringwright::workload
