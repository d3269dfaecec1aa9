#include "core/run/step/wait_recorder.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::wait_recorder_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;

std::vector<std::vector<TaskWait>> waits_of(TaskGraph& graph, const test::PlayParts& parts = {}) {
  return test::play_on_wires(graph, parts, {.record_waits = true}).record.waits;
}

class SevenMicroseconds final : public CollectiveTime {
 public:
  [[nodiscard]] Duration time(const CollectiveCall&) const override { return 7_us; }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return call.bytes; }
};

// Issues a kernel in 2 us.
class SlowHost final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override { return compute_.duration(kernel); }
  [[nodiscard]] Duration issue_time(const Kernel&) const override { return 2_us; }

 private:
  test::PlainCompute compute_;
};

TEST(WaitRecorder, RecordsNothingUnasked) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(3_us);
  program.run_on({0});
  EXPECT_TRUE(test::play_on_wires(graph).record.waits.empty());
}

// The third task needs the first, which ends at 3 us, and the second of its own stream, which ends at 8.
TEST(WaitRecorder, NamesTheTaskThatEndedLast) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  const auto first = program.compute(3_us);
  program.compute(5_us, {first}, kCommStream);
  program.compute(1_us, {first}, kCommStream);
  program.run_on({0});
  const std::vector<TaskWait> waits = waits_of(graph)[0];
  EXPECT_EQ(waits[0].by, ReleasedBy::kIteration);
  EXPECT_EQ(waits[0].after, kNoTask);
  EXPECT_EQ(waits[1].after, 0U);
  EXPECT_EQ(waits[2].by, ReleasedBy::kTask);
  EXPECT_EQ(waits[2].after, 1U);
  EXPECT_EQ(waits[2].start, TimePoint(8_us));
  EXPECT_EQ(waits[2].end, TimePoint(9_us));
}

// The receive is posted at 0, the message sent at 4 us.
TEST(WaitRecorder, AReceiveWaitsForItsSend) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  const auto work = sender.compute(4_us);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream, {work});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.run_on({1});
  const auto waits = waits_of(graph);
  const TaskWait& receive = waits[1][0];
  EXPECT_EQ(receive.origin, ClassId(0));
  EXPECT_EQ(receive.origin_task, 1U);
  EXPECT_EQ(receive.origin_start, TimePoint(4_us));
  EXPECT_EQ(receive.end, TimePoint(6_us));
  // The send itself waits for nobody.
  EXPECT_EQ(waits[0][1].origin, ClassId(0));
  EXPECT_EQ(waits[0][1].origin_task, 1U);
}

// Rank 2 joins at 5 us, the others earlier.
TEST(WaitRecorder, ACollectiveWaitsForTheMemberThatJoinsLast) {
  for (const bool formula : {false, true}) {
    TaskGraph graph;
    const DimensionId tp = add_dimension(graph, "tp", {{0, 1, 2}});
    for (const int rank : {0, 1, 2}) {
      ProgramBuilder program(graph, "p" + std::to_string(rank));
      const auto work = program.compute(1_us + rank * 2_us);
      program.collective(tp, CollectiveKind::kAllReduce, Bytes(3000), kCommStream, {work});
      program.run_on({rank});
    }
    const SevenMicroseconds fixed;
    const auto waits = waits_of(graph, {.times = formula ? &fixed : nullptr});
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(waits[rank][1].origin, ClassId(2)) << rank;
      EXPECT_EQ(waits[rank][1].origin_task, 1U) << rank;
      EXPECT_EQ(waits[rank][1].origin_start, TimePoint(5_us)) << rank;
    }
  }
}

// The receiver's host waits for the message, which arrives at 12 us, and issues the kernel behind it until 14.
TEST(WaitRecorder, NamesWhatTheHostWaitedFor) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  const auto computed = sender.compute(10_us);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream, {computed});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  const auto received = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.compute(1_us, {received});
  receiver.run_on({1});
  const SlowHost host;
  const ExecutorOptions options{.record_waits = true, .host_awaits_receives = true};
  const auto waits = test::play_on_wires(graph, {.compute = &host}, options).record.waits[1];
  EXPECT_EQ(waits[1].by, ReleasedBy::kHost);
  EXPECT_EQ(waits[1].after, received);
  EXPECT_EQ(waits[1].start, TimePoint(13_us));
  EXPECT_EQ(waits[1].end, TimePoint(14_us));
}

// Of several iterations the last one is kept.
TEST(WaitRecorder, KeepsTheLastIteration) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(3_us);
  program.run_on({0});
  graph.iterations = 4;
  const std::vector<TaskWait> waits = waits_of(graph)[0];
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].start, TimePoint(9_us));
  EXPECT_EQ(waits[0].end, TimePoint(12_us));
}

}  // namespace
}  // namespace ringwright::wait_recorder_test
