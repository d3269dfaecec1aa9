// CPU costs of the messages of steps, in addition to their path: 1 us and 1 ns a byte.
#include "core/plan/step_costs.h"

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "tests/support/played_graph.h"

namespace ringwright::step_costs_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

TimePoint end_of(CollectiveKind kind, const StepCosts& costs, int iterations = 1) {
  TaskGraph graph;
  const DimensionId dp = add_dimension(graph, "dp", {{0, 1, 2, 3}});
  ProgramBuilder program(graph, "all");
  program.collective(dp, kind, Bytes(4000), StreamIndex(1));
  program.run_on({0, 1, 2, 3});
  graph.iterations = iterations;
  return test::play_on_wires(graph, {.algorithm = collectives::find_algorithm("ring"), .step_costs = costs})
      .record.iteration_end.back();
}

// A ring of four: 3 steps of 1,000 bytes scatter, 3 gather, each 2 us.
TEST(StepCosts, AreNothingUnlessGiven) {
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {}), TimePoint(12_us));
}

TEST(StepCosts, OfMessagesArePaidInEveryStep) {
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {.message = 500_ns}), TimePoint(15_us));
}

TEST(StepCosts, OfConsentArePaidByLargerMessagesOnly) {
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {.eager = Bytes(999), .rendezvous = 1_us}), TimePoint(18_us));
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {.eager = Bytes(1000), .rendezvous = 1_us}), TimePoint(12_us));
}

// 1,000 bytes at 0.5 GB/s are 2 us in each of the three steps that add.
TEST(StepCosts, OfAddingArePaidWhereDataAreAdded) {
  EXPECT_EQ(end_of(CollectiveKind::kReduceScatter, {.reduce_rate = Bandwidth(0.5e9)}), TimePoint(12_us));
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {.reduce_rate = Bandwidth(0.5e9)}), TimePoint(18_us));
  EXPECT_EQ(end_of(CollectiveKind::kAllGather, {.reduce_rate = Bandwidth(0.5e9)}), TimePoint(6_us));
}

TEST(StepCosts, RepeatWithEveryTrainingStep) {
  EXPECT_EQ(end_of(CollectiveKind::kAllReduce, {.message = 500_ns, .reduce_rate = Bandwidth(0.5e9)}, 5),
            TimePoint(5 * 21_us));
}

TEST(StepCosts, PostSeveralMessagesOneAfterAnother) {
  const StepCosts costs{.message = 2_us, .eager = Bytes(10), .rendezvous = 1_us};
  EXPECT_EQ(costs.before_send(0, Bytes(10)), 2_us);
  EXPECT_EQ(costs.before_send(3, Bytes(11)), 9_us);
}

}  // namespace
}  // namespace ringwright::step_costs_test
