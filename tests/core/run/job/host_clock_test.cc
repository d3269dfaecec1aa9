#include "core/run/job/host_clock.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::host_clock_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

// Kernels take as many picoseconds as they have FLOPs; issuing one takes 2 us, a call 1 us.
class SlowHost final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()));
  }
  [[nodiscard]] Duration issue_time(const Kernel&) const override { return 2_us; }
  [[nodiscard]] Duration call_issue_time() const override { return 1_us; }
};

// Resumes after a wait in 3 us.
class DrowsyHost final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override { return host_.duration(kernel); }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override { return host_.issue_time(kernel); }
  [[nodiscard]] Duration call_issue_time() const override { return host_.call_issue_time(); }
  [[nodiscard]] Duration resume_time() const override { return 3_us; }

 private:
  SlowHost host_;
};

RunResult play(TaskGraph& graph, const ExecutorOptions& options = {}) {
  static const SlowHost kHost;
  return test::play_on_wires(graph, {.compute = &kHost}, options);
}

TimePoint end_of(const RunResult& result, std::size_t rank) {
  return result.record.finished_at[rank];
}

// A message that its sender stores is a turn of the loop that issues the kernels next to it.
TEST(HostClock, AStoredPartIsIssuedInALoop) {
  TaskGraph graph;
  graph.messages = {{.peer = 1, .bytes = Bytes(8)}, {.peer = 1, .bytes = Bytes(8), .moved_by = MovedBy::kSender}};
  const SlowHost host;
  EXPECT_EQ(call_issue_time(host, graph, {.kind = TaskKind::kSend, .detail = 0}), 1_us);
  EXPECT_EQ(call_issue_time(host, graph, {.kind = TaskKind::kSend, .detail = 1}), 2_us);
  EXPECT_EQ(call_issue_time(host, graph, {.kind = TaskKind::kReceive, .detail = 1}), 2_us);
  EXPECT_EQ(call_issue_time(host, graph, {.kind = TaskKind::kCollective, .detail = 1}), 1_us);
}

TEST(HostClock, AHostThatIsAheadCostsNothing) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(5_us);
  program.compute(5_us);
  program.run_on({0});
  EXPECT_EQ(end_of(play(graph), 0), TimePoint(10_us));
}

// The message arrives at 3 us (1 us to issue it, 2 us on the wire); the first receive is issued at 7 us, after three
// kernels, and the second at 8 us, before its message, which is issued at 8 us, arrives at 10 us.
TEST(HostClock, AReceiveEndsWhenItIsIssuedAndItsMessageIsThere) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, StreamIndex{1});
  for (int i = 0; i < 3; ++i) sender.compute(1_ns);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, StreamIndex{1});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  for (int i = 0; i < 3; ++i) receiver.compute(1_ns);
  const auto first = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  const auto second = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.compute(5_us, {first}, StreamIndex{1});
  receiver.compute(7_us, {second}, StreamIndex{2});
  receiver.run_on({1});
  // 7 us + 5 us and 10 us + 7 us; recorded, each receive is a separate event, with the same result.
  EXPECT_EQ(end_of(play(graph), 1), TimePoint(17_us));
  const RunResult spans = play(graph, {.recorded = {ClassId(1)}});
  EXPECT_EQ(end_of(spans, 1), TimePoint(17_us));
  for (const Span& span : spans.record.spans) {
    if (span.task == first || span.task == second) {
      EXPECT_EQ(span.end, TimePoint(span.task == first ? 7_us : 10_us));
    }
  }
}

TEST(HostClock, AHostThatIsBehindSetsThePace) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  for (int i = 0; i < 4; ++i) program.compute(500_ns);
  program.run_on({0});
  const RunResult result = play(graph);
  EXPECT_EQ(end_of(result, 0), TimePoint(8_us));  // four times 2 us of issuing
  // Computing is only the time of the kernels; the rest is idle.
  Duration computing;
  for (const auto& [mask, time] : result.record.time_in[0].entries()) {
    if ((mask & kComputing) != 0) computing += time;
  }
  EXPECT_EQ(computing, 2_us);
}

TEST(HostClock, LongKernelsLetTheHostRunAheadForShortOnes) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(7_us);
  for (int i = 0; i < 3; ++i) program.compute(500_ns);
  program.run_on({0});
  // The host needs 8 us for four kernels; the device would be done at 8.5 us.
  EXPECT_EQ(end_of(play(graph), 0), TimePoint(Duration(8'500'000)));
}

RunResult play_drowsily(TaskGraph& graph, const ExecutorOptions& options) {
  static const DrowsyHost kHost;
  return test::play_on_wires(graph, {.compute = &kHost}, options);
}

// The receiver waits for 10 us of the sender's computing and a message of 2 us, then issues its own kernel of 1 us.
TaskGraph two_stages(const std::string& dimension = "pp") {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, dimension, {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  const auto computed = sender.compute(10_us);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, 1, {computed});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  const auto received = receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.compute(1_us, {received});
  receiver.run_on({1});
  return graph;
}

TEST(HostClock, AHostThatDoesNotWaitHasIssuedWhatFollowsAReceive) {
  TaskGraph graph = two_stages();
  EXPECT_EQ(end_of(play(graph), 1), TimePoint(13_us));
}

TEST(HostClock, AHostThatAwaitsReceivesIssuesWhatFollowsAfterwards) {
  TaskGraph graph = two_stages();
  EXPECT_EQ(end_of(play(graph, {.host_awaits_receives = true}), 1), TimePoint(14_us));  // 12 us, then 2 us of issuing
}

TEST(HostClock, AHostThatAwaitsReceivesComesBackFromThemFirst) {
  TaskGraph graph = two_stages();
  // 12 us, 3 us until it resumes, 2 us of issuing.
  EXPECT_EQ(end_of(play_drowsily(graph, {.host_awaits_receives = true}), 1), TimePoint(17_us));
  EXPECT_EQ(end_of(play_drowsily(graph, {}), 1), TimePoint(13_us));
}

TEST(HostClock, MessagesOutsideOfAPipelineLetItGoOnAtOnce) {
  TaskGraph graph = two_stages("cp");
  EXPECT_EQ(end_of(play_drowsily(graph, {.host_awaits_receives = true}), 1), TimePoint(14_us));
}

TEST(HostClock, AMessageThatCameInTimeIsStillWaitedForWithTheDevice) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, 1, {sender.compute(10_us)});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  receiver.compute(20_us);
  receiver.compute(1_us, {receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)})});
  receiver.run_on({1});
  // 20 us of computing, in which the message arrives; then 3 us and 2 us of issuing.
  EXPECT_EQ(end_of(play_drowsily(graph, {.host_awaits_receives = true}), 1), TimePoint(25_us));
}

}  // namespace
}  // namespace ringwright::host_clock_test
