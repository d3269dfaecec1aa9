// The state of computing under contention as a hash: equal whenever it comes, and different by all that matters later.
#include "core/run/contention/contended_compute.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/support/played_graph.h"

namespace ringwright::contended_state_test {
namespace {

using namespace ringwright::literals;

constexpr ClassId kRank{0};
constexpr DimensionId kDimension{0};

// Each claim halves the rate of kernels.
class HalfRate final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()));
  }
  [[nodiscard]] Duration duration_under(const Kernel& kernel, const Contention& taken) const override {
    return taken.sms > 0 ? duration(kernel) * 2 : duration(kernel);
  }
};

class NoListener final : public ComputeListener {
 public:
  void on_computed(ClassId /*rank_class*/, std::uint32_t /*task*/) override {}
};

TaskGraph one_kernel() {
  TaskGraph graph;
  test::add_dimension(graph, "dp", {{0}});
  test::ProgramBuilder program(graph, "program");
  program.compute(20_us);
  program.run_on({0});
  return graph;
}

struct Story {
  TimePoint begin;
  std::uint32_t first_task = 10;
  Duration held_until = 4_us;  // from `begin` on, of the kernel's 6 us so far
  bool holds = false;          // another claim, at the end
  bool awaits = false;         // a receive that waits for its data
  int in_flight = 0;
  std::uint32_t farthest = 1000;
};

std::uint64_t digest_after(const Story& story) {
  Engine engine;
  const TaskGraph graph = one_kernel();
  const RankClasses classes = identity_classes(1);
  const HalfRate gpu;
  CopyBlockClocks clocks(engine, 1);
  NoListener listener;
  ContendedCompute compute({engine, graph, gpu, clocks, listener, classes});
  std::uint64_t digest = 0;
  const std::uint32_t task = story.first_task;
  const ContendedCompute::Claim claim{.dimension = kDimension, .task = task + 1, .takes = {.sms = 2}};
  engine.at(story.begin, [&] {
    compute.hold(kRank, claim);
    compute.compute(kRank, {.task = task, .work = 0, .alone = 20_us});
  });
  engine.at(story.begin + story.held_until, [&] { compute.release(kRank, task + 1); });
  const auto look = [&] {
    if (story.holds) compute.hold(kRank, claim);
    if (story.awaits) {
      compute.hold(kRank, {.dimension = kDimension, .task = task + 2, .takes = {.sms = 2}, .once_data_move = true});
    }
    compute.on_movement(kRank, kDimension, story.in_flight);
    digest = compute.digest(kRank, {.reference = task, .farthest = story.farthest});
    engine.stop_after_instant();
  };
  engine.at(story.begin + 6_us, [&look] { look(); });
  engine.run();
  return digest;
}

TEST(ContendedState, IsEqualWheneverItComesAndWhereverInTheProgram) {
  const std::uint64_t early = digest_after({.begin = TimePoint(Duration(3))});
  EXPECT_EQ(early, digest_after({.begin = TimePoint(Duration(880'000'000'000'001))}));
  EXPECT_EQ(early, digest_after({.begin = TimePoint(Duration(3)), .first_task = 500}));
}

TEST(ContendedState, DiffersByTheWorkLeft) {
  EXPECT_NE(digest_after({.held_until = 4_us}), digest_after({.held_until = 3_us}));
}

TEST(ContendedState, DiffersByClaimsAndByWhatMoves) {
  const std::uint64_t nothing = digest_after({});
  const std::uint64_t holds = digest_after({.holds = true});
  EXPECT_NE(holds, nothing);
  EXPECT_NE(digest_after({.holds = true, .in_flight = 1}), holds);
  const std::uint64_t awaits = digest_after({.awaits = true});
  EXPECT_NE(awaits, nothing);
  EXPECT_NE(digest_after({.awaits = true, .in_flight = 1}), awaits);
}

TEST(ContendedState, LeavesOutReceivesBehindTheFarthestTask) {
  EXPECT_EQ(digest_after({.awaits = true, .farthest = 11}), digest_after({.farthest = 11}));
}

}  // namespace
}  // namespace ringwright::contended_state_test
