#include "core/run/contention/contended_compute.h"

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::contended_compute_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;

// A GPU of 10 multiprocessors and 100 GB/s: kernels with bytes are bound by memory, all others by arithmetic.
// Concurrent with the former, thread blocks get half of the memory bandwidth that they ask for.
class TenSms final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()));
  }
  [[nodiscard]] Duration duration_under(const Kernel& kernel, const Contention& taken) const override {
    const double sms = 10.0 / (10.0 - taken.sms);
    const double memory = 100e9 / (100e9 - taken.memory.count());
    return scale(duration(kernel), kernel.bytes > Bytes(0) ? std::max(sms, memory) : sms);
  }
  [[nodiscard]] Bandwidth memory_under(const Kernel& kernel, const Contention& taken) const override {
    return kernel.bytes > Bytes(0) ? taken.memory * 0.5 : taken.memory;
  }
};

class FixedFootprint final : public CommunicationFootprint {
 public:
  FixedFootprint(const Contention& collective, const Contention& message)
      : collective_(collective), message_(message) {}
  [[nodiscard]] Contention of(const CollectiveCall&) const override { return collective_; }
  [[nodiscard]] Contention of(const MessageSpec&, DimensionId, RankId) const override { return message_; }

 private:
  Contention collective_;
  Contention message_;
};


RunResult play(TaskGraph& graph, const CommunicationFootprint* footprint, int warmup = 0) {
  static const TenSms kGpu;
  return test::play_on_wires(graph, {.compute = &kGpu, .footprint = footprint},
                             {.warmup_iterations = warmup, .skip_repeated_iterations = true});
}

// Rank 0 computes 10 us and sends a message meanwhile; rank 1 takes it.
TaskGraph compute_with_a_message(Bytes bytes_of_kernel) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.compute(10_us);
  graph.works.back().kernels.back().bytes = bytes_of_kernel;
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream);
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.run_on({1});
  return graph;
}

TEST(ContendedCompute, AKernelIsSlowerWhileMultiprocessorsAreHeldAndFullSpeedAfterwards) {
  TaskGraph graph = compute_with_a_message(Bytes(0));
  const FixedFootprint footprint({}, {.sms = 2});
  const RunResult result = play(graph, &footprint);
  // For 2 us it runs at 8/10: 1.6 us done, 8.4 us left.
  EXPECT_EQ(result.record.finished_at[0], TimePoint(10_us + 400_ns));
  EXPECT_EQ(result.record.interference[0][0].computing_to_sms, 400_ns);
  EXPECT_EQ(result.record.interference[0][0].computing_to_memory, Duration(0));
  EXPECT_EQ(result.record.interference[1][0].computing_to_sms, Duration(0));
}

TEST(ContendedCompute, WhatGoesBeyondTheMultiprocessorsIsLostToMemory) {
  TaskGraph graph = compute_with_a_message(Bytes(1));
  const FixedFootprint footprint({}, {.sms = 2, .memory = 50_GBps});
  const RunResult result = play(graph, &footprint);
  // The message goes at half its speed, so that its 2 us become 4. The kernel goes at half its speed meanwhile: 2 us
  // done, of which multiprocessors alone would have cost 0.5 us.
  EXPECT_EQ(result.record.finished_at[1], TimePoint(4_us));
  EXPECT_EQ(result.record.finished_at[0], TimePoint(12_us));
  EXPECT_EQ(result.record.interference[0][0].computing_to_sms, 500_ns);
  EXPECT_EQ(result.record.interference[0][0].computing_to_memory, 1500_ns);
  EXPECT_EQ(result.record.interference[0][0].communication, 2_us);
  EXPECT_EQ(result.record.interference[1][0].communication, Duration(0));
}

TEST(ContendedCompute, WithoutAFootprintNothingIsSlowerAndNothingIsBooked) {
  TaskGraph graph = compute_with_a_message(Bytes(1));
  const RunResult result = play(graph, nullptr);
  EXPECT_EQ(result.record.finished_at[0], TimePoint(10_us));
  EXPECT_TRUE(result.record.interference.empty());
  TaskGraph again = compute_with_a_message(Bytes(1));
  const FixedFootprint nothing({}, {});
  EXPECT_EQ(play(again, &nothing).record.finished_at[0], TimePoint(10_us));
}

// An all-gather of two ranks; the second joins 6 us later.
TaskGraph gather_with_a_late_rank() {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder early(graph, "early");
  early.collective(dp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  early.compute(20_us);
  graph.works.back().kernels.back().bytes = Bytes(1);
  early.run_on({0});
  ProgramBuilder late(graph, "late");
  const auto first = late.compute(6_us);
  late.collective(dp, CollectiveKind::kAllGather, Bytes(2000), kCommStream, {first});
  late.run_on({1});
  return graph;
}

TEST(ContendedCompute, ThreadBlocksThatWaitForPeersHoldMultiprocessorsButNoMemory) {
  TaskGraph graph = gather_with_a_late_rank();
  const FixedFootprint footprint({.sms = 2, .memory = 50_GBps}, {});
  const RunResult result = play(graph, &footprint);
  // 6 us at 8/10 while waiting: 4.8 done. Data move for 2 us at half of their speed: 4 us at 5/10, 2 done. 13.2 left.
  EXPECT_EQ(result.record.finished_at[0], TimePoint(23_us + 200_ns));
  EXPECT_EQ(result.record.interference[0][0].computing_to_sms, 1200_ns + 500_ns);
  EXPECT_EQ(result.record.interference[0][0].computing_to_memory, 1500_ns);
}

class TwoMicroseconds final : public CollectiveTime {
 public:
  [[nodiscard]] Duration time(const CollectiveCall&) const override { return 2_us; }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return call.bytes; }
};

TEST(ContendedCompute, AFormulasCallEndsForAllWithItsSlowestMember) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder busy(graph, "busy");
  busy.collective(dp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  busy.compute(20_us);
  graph.works.back().kernels.back().bytes = Bytes(1);
  busy.run_on({0});
  ProgramBuilder idle(graph, "idle");
  idle.collective(dp, CollectiveKind::kAllGather, Bytes(2000), kCommStream);
  idle.run_on({1});
  const FixedFootprint footprint({.sms = 2, .memory = 50_GBps}, {});
  static const TenSms kGpu;
  static const TwoMicroseconds kTimes;
  const RunResult result = test::play_on_wires(graph, {.compute = &kGpu, .times = &kTimes, .footprint = &footprint});
  EXPECT_EQ(result.record.finished_at[1], TimePoint(4_us));
  EXPECT_EQ(result.record.interference[0][0].communication, 2_us);
  EXPECT_EQ(result.record.interference[1][0].communication, Duration(0));
}

TEST(ContendedCompute, AMessageIsAsLateAsTheLaterOfItsEnds) {
  TaskGraph graph = compute_with_a_message(Bytes(1));
  ProgramBuilder receiver(graph, "busy receiver");
  receiver.receive(DimensionId(0), {.peer = 0, .bytes = Bytes(1000)});
  receiver.compute(1_us);
  graph.works.back().kernels.back().bytes = Bytes(1);
  receiver.run_on({1});
  const FixedFootprint footprint({}, {.sms = 2, .memory = 50_GBps});
  const RunResult result = play(graph, &footprint);
  // The receiver's kernel ends at 2 us, when its end lags by 1 us; the sender's lags by the same, and continues slowly.
  EXPECT_EQ(result.record.interference[1][0].communication, 1_us);
  EXPECT_EQ(result.record.finished_at[1], TimePoint(4_us));
}

TEST(ContendedCompute, WarmupIsNotCountedAndEveryIterationIsSimulated) {
  TaskGraph graph = compute_with_a_message(Bytes(0));
  graph.iterations = 4;
  const FixedFootprint footprint({}, {.sms = 2});
  const RunResult result = play(graph, &footprint, 1);
  EXPECT_EQ(result.record.interference[0][0].computing_to_sms, 1200_ns);
  EXPECT_EQ(result.skipped_iterations, 0);
}

// A slowdown of the rank itself and of its neighbours multiply.
TEST(ContendedCompute, AStragglerIsSlowedInProportion) {
  TaskGraph graph = compute_with_a_message(Bytes(0));
  graph.compute_slowdown = {2.0, 1.0};
  const FixedFootprint footprint({}, {.sms = 2});
  EXPECT_EQ(play(graph, &footprint).record.finished_at[0], TimePoint(20_us + 400_ns));
}

// Two dimensions at once: what is lost is shared in proportion to what each holds.
TEST(ContendedCompute, LossesAreSharedByTheDimensionsThatHoldTheGpu) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1}});
  ProgramBuilder sender(graph, "sender");
  sender.compute(10_us);
  sender.send(pp, {.peer = 1, .bytes = Bytes(1000)}, kCommStream);
  sender.collective(dp, CollectiveKind::kAllGather, Bytes(2000), StreamIndex{2});
  sender.run_on({0});
  ProgramBuilder receiver(graph, "receiver");
  receiver.receive(pp, {.peer = 0, .bytes = Bytes(1000)});
  receiver.collective(dp, CollectiveKind::kAllGather, Bytes(2000), StreamIndex{2});
  receiver.run_on({1});
  const FixedFootprint footprint({.sms = 4}, {.sms = 1});
  const RunResult result = play(graph, &footprint);
  // 2 us at 5/10; the message holds a fifth of what is held.
  EXPECT_EQ(result.record.interference[0][0].computing_to_sms, 200_ns);
  EXPECT_EQ(result.record.interference[0][1].computing_to_sms, 800_ns);
}

class NotesTheEnd final : public ComputeListener {
 public:
  explicit NotesTheEnd(const Engine& engine) : engine_(engine) {}
  void on_computed(ClassId, std::uint32_t) override { ended = engine_.now(); }

  TimePoint ended;

 private:
  const Engine& engine_;
};

// A kernel of 100 ps goes at 8/10 for its first picosecond: 99.2 ps are left, and it ends at 100 ps, with 0.2 ps left
// by rounding. Communication that takes nine of ten multiprocessors from that instant on does not move the end, no
// matter which of the two comes first.
TEST(ContendedCompute, AChangeAtTheInstantOfAnEndDoesNotMoveIt) {
  for (const Duration decided : {Duration(0), Duration(50)}) {
    TaskGraph graph;
    const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
    ProgramBuilder program(graph, "kernel");
    program.compute(Duration(100));
    program.run_on({0, 1});
    Engine engine;
    const TenSms gpu;
    CopyBlockClocks clocks(engine, 1);
    NotesTheEnd end(engine);
    const RankClasses one = identity_classes(1);
    ContendedCompute contended(
        {.engine = engine, .graph = graph, .compute = gpu, .clocks = clocks, .listener = end, .classes = one});
    engine.at(TimePoint(Duration(1)), [&] { contended.release(ClassId(0), 1); });
    engine.at(TimePoint(decided), [&] {
      engine.at(TimePoint(Duration(100)), [&] {
        contended.hold(ClassId(0), {.dimension = pp, .task = 2, .takes = {.sms = 9}});
      });
    });
    contended.hold(ClassId(0), {.dimension = pp, .task = 1, .takes = {.sms = 2}});
    contended.compute(ClassId(0), {.task = 0, .work = 0, .alone = Duration(100)});
    engine.run();
    EXPECT_EQ(end.ended, TimePoint(Duration(100))) << decided.count();
  }
}

class NobodyListens final : public ComputeListener {
 public:
  void on_computed(ClassId, std::uint32_t) override {}
};

// Claims visited while one class posts this many receives, whose data then arrive one after the other.
std::uint64_t claims_visited(int receives) {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  Engine engine;
  const TenSms gpu;
  CopyBlockClocks clocks(engine, 1);
  NobodyListens nobody;
  const RankClasses one = identity_classes(1);
  ContendedCompute contended(
      {.engine = engine, .graph = graph, .compute = gpu, .clocks = clocks, .listener = nobody, .classes = one});
  const auto count = static_cast<std::uint32_t>(receives);
  for (std::uint32_t task = 0; task < count; ++task) {
    contended.hold(ClassId(0), {.dimension = pp, .task = task, .takes = {.sms = 2}, .once_data_move = true});
  }
  for (std::uint32_t task = 0; task < count; ++task) {
    contended.on_movement(ClassId(0), pp, 1);
    contended.on_movement(ClassId(0), pp, 0);
    contended.release(ClassId(0), task);
  }
  return contended.claims_visited();
}

// A training step posts all its receives at its start: its cost must not grow with their square.
TEST(ContendedCompute, ReceivesThatTakeNothingYetCostNothing) {
  EXPECT_EQ(claims_visited(10), 10U);
  EXPECT_EQ(claims_visited(1000), 1000U);
}

}  // namespace
}  // namespace ringwright::contended_compute_test
