#include "workload/program/program_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::program_writer_test {
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

const CommStream kTensor{.dimension = DimensionId(0), .stream = 1};
const CollectiveSpec kGather{.kind = CollectiveKind::kAllGather, .bytes = Bytes(64)};

TEST(ProgramWriter, KernelsBetweenTwoCommunicationsAreOneTask) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  const SectionId b = tables.add_section({kernel("b")});
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

TEST(ProgramWriter, ComputationsAfterACommunicationDoNotWaitForItByDefault) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
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

// Without computing in between: messages of a stream follow each other, those of two streams do not; the next
// computation waits for everything itself.
TEST(ProgramWriter, MessagesThatArePassedOnDoNotRepeatWhatTheLastOneWaitedFor) {
  constexpr CommStream kOther{.dimension = DimensionId(0), .stream = 2};
  constexpr MessageSpec kMessage{.peer = 0, .bytes = Bytes(8)};
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.compute(a);
  const auto relay = [&](const CommStream& stream) {
    writer.wait(writer.receive(kTensor, kMessage, "receive"));
    return writer.pass_on(writer.look_up(stream, kMessage, "send"));
  };
  const TaskIndex first = relay(kTensor);
  const TaskIndex second = relay(kTensor);
  const TaskIndex other = relay(kOther);
  writer.wait(second);
  const TaskIndex third = relay(kTensor);
  writer.compute(a);
  const TaskIndex last = writer.pass_on(writer.look_up(kTensor, kMessage, "send"));
  const Program program = writer.finish(3);
  EXPECT_THAT(dependencies(program, first), ElementsAre(1, 0));
  EXPECT_THAT(dependencies(program, second), ElementsAre(3, 0));
  EXPECT_THAT(dependencies(program, other), ElementsAre(1, 3, 5, 0));
  EXPECT_THAT(dependencies(program, third), ElementsAre(5, second, 7, 0));
  EXPECT_THAT(dependencies(program, last - 1), ElementsAre(1, 3, 5, second, 7));
  EXPECT_THAT(dependencies(program, last), ElementsAre(last - 1));
}

TEST(ProgramWriter, ReceivesWaitForNothing) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.compute(a);
  writer.receive(kTensor, {.peer = 0, .bytes = Bytes(8)}, "receive");
  EXPECT_THAT(dependencies(writer.finish(1), 1), IsEmpty());
}

TEST(GraphTables, StoreDistinctEntriesOnly) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  EXPECT_EQ(tables.add_section({kernel("a")}), a);
  EXPECT_NE(tables.add_section({kernel("b")}), a);
  EXPECT_EQ(tables.work({a, a}, "forward"), tables.work({a, a}, "forward"));
  EXPECT_NE(tables.work({a}, "forward"), tables.work({a, a}, "forward"));
  EXPECT_EQ(tables.collective(kGather), tables.collective(kGather));
  EXPECT_NE(tables.collective(kGather), tables.collective({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(64)}));
  EXPECT_EQ(tables.message({.peer = 1, .bytes = Bytes(8)}), tables.message({.peer = 1, .bytes = Bytes(8)}));
  EXPECT_NE(tables.message({.peer = 1, .bytes = Bytes(8)}),
            tables.message({.peer = 1, .bytes = Bytes(8), .channel = 1}));
  EXPECT_EQ(tables.label("F0"), tables.label("F0"));
}

// The tasks between the marks become a call if `write` leaves them closed.
struct Called {
  Program program;
  TaskGraph graph;
  bool is_call = false;
};
template <class Write>
Called as_segment(Write&& write) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.name_work({.label = "before", .work = "before"});
  writer.compute(a);
  writer.wait(writer.collective(kTensor, kGather, "gather"));
  writer.name_work({.label = "F0", .work = "forward"});
  writer.begin_segment();
  write(writer, a);
  Called result;
  result.is_call = writer.end_segment().has_value();
  writer.compute(a);
  result.program = writer.finish(3);
  tables.move_into(result.graph);
  return result;
}

TEST(ProgramWriter, ASegmentIsCutOutAndCalled) {
  const Called called = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.compute(a);
    writer.wait(writer.collective(kTensor, kGather, "gather"));
    writer.compute(a);
  });
  ASSERT_TRUE(called.is_call);
  ASSERT_EQ(called.program.tasks.size(), 4U);
  EXPECT_EQ(called.program.tasks[2].kind, TaskKind::kSegment);
  EXPECT_THAT(dependencies(called.program, 2), ElementsAre(1, 0));  // the awaited one, and the computation before
  ASSERT_EQ(called.graph.segments.size(), 1U);
  const Segment& segment = called.graph.segments.front();
  ASSERT_EQ(segment.tasks.size(), 3U);
  EXPECT_THAT(segment.dependencies, ElementsAre(3, 0, 1));  // the call's first; the task before, twice
  EXPECT_EQ(segment.tasks[0].label, kCallersLabel);
  EXPECT_NE(segment.tasks[1].label, kCallersLabel);
}

TEST(ProgramWriter, CommunicationThatIsNotAwaitedInASegmentKeepsItWrittenOut) {
  const Called called = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.compute(a);
    static_cast<void>(writer.collective(kTensor, kGather, "gather"));
    writer.compute(a);
  });
  EXPECT_FALSE(called.is_call);
  EXPECT_EQ(called.program.tasks.size(), 6U);
  EXPECT_THAT(called.graph.segments, IsEmpty());
}

TEST(ProgramWriter, ALaterTaskOfItsStreamAwaitsACommunicationToo) {
  const Called called = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.compute(a);
    static_cast<void>(writer.collective(kTensor, kGather, "gather"));
    writer.wait(writer.collective(kTensor, kGather, "gather"));
    writer.compute(a);
  });
  EXPECT_TRUE(called.is_call);
}

TEST(ProgramWriter, WhatRunsAheadOfASegmentKeepsItWrittenOut) {
  const Called ahead = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.wait(writer.collective_after(kTensor, kGather, "gather", {}));
    writer.compute(a);
  });
  EXPECT_FALSE(ahead.is_call);
  const Called concurrent = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.wait(writer.collective_after(kTensor, kGather, "gather", {0}));  // but not after the awaited gather
    writer.compute(a);
  });
  EXPECT_FALSE(concurrent.is_call);
}

TEST(ProgramWriter, AWaitForTheNextComputationKeepsASegmentWrittenOut) {
  const Called called = as_segment([](ProgramWriter& writer, SectionId a) {
    writer.compute(a);
    writer.wait(writer.collective(kTensor, kGather, "gather"));
  });
  EXPECT_FALSE(called.is_call);
}

TEST(ProgramWriter, EqualSegmentsAreStoredOnce) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  for (const char* name : {"stage 0", "stage 1"}) {
    ProgramWriter writer(tables, name);
    for (const char* pass : {"F0", "F1"}) {
      writer.name_work({.label = pass, .work = "forward"});
      writer.begin_segment();
      writer.compute(a);
      EXPECT_TRUE(writer.end_segment().has_value());
    }
  }
  TaskGraph graph;
  tables.move_into(graph);
  EXPECT_EQ(graph.segments.size(), 2U);  // one without a predecessor, one after a computation
}

TEST(ProgramWriter, MutedNothingIsSentReceivedOrComputedForCommunication) {
  GraphTables tables;
  const SectionId a = tables.add_section({kernel("a")});
  ProgramWriter writer(tables, "stage 0");
  writer.mute(Communication::kOff);
  const TaskIndex gathered = writer.collective_after(kTensor, kGather, "gather", {});
  writer.wait(writer.compute_on(kTensor.stream, a, "quantize", {gathered}));
  writer.wait(writer.send_after(kTensor, {.peer = 1, .bytes = Bytes(8)}, "send", {gathered}));
  writer.compute(a);
  writer.mute(Communication::kOn);
  const Program program = writer.finish(2);
  ASSERT_EQ(program.tasks.size(), 1U);
  EXPECT_EQ(program.tasks[0].kind, TaskKind::kCompute);
  EXPECT_THAT(dependencies(program, 0), IsEmpty());
}

}  // namespace
}  // namespace ringwright::workload::program_writer_test
