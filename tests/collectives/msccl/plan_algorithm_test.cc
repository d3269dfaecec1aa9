// Execution plans as thread blocks: stores, signals, and the calls that they match.
#include "collectives/msccl/plan_algorithm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/channel_chooser.h"
#include "collectives/msccl/file_chooser.h"
#include "tests/collectives/msccl/example_plans.h"

namespace ringwright::collectives::plan_algorithm_test {
namespace {

using namespace ringwright::literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PlanAlgorithm algorithm_of(const std::string& text) {
  auto plan = parse_execution_plan(text, "p.json");
  if (!plan) throw std::runtime_error(render(plan.error()));
  return PlanAlgorithm(std::move(*plan));
}

CollectiveCall call_of(const GroupLayout& layout, CollectiveKind kind, Bytes bytes = 1_MiB) {
  return {.kind = kind, .bytes = bytes, .layout = &layout};
}

TEST(PlanAlgorithm, StoresAndLoadsMoveTheBytesAndSignalsSynchronise) {
  const PlanAlgorithm algorithm = algorithm_of(read_all_plan(3));
  const GroupLayout layout = make_block_layout(3, 3);
  const CollectiveCall call = call_of(layout, CollectiveKind::kAllReduce, Bytes(3 << 20));
  Primitive primitive;
  algorithm.primitive(call, algorithm.plan(), 1, 0, 2, primitive);
  EXPECT_EQ(primitive.size, 1_MiB);
  EXPECT_THAT(primitive.loads_from, ElementsAre(2, 0));
  EXPECT_THAT(primitive.stores_to, ElementsAre(2, 0));
  EXPECT_EQ(primitive.operands, 3);
  EXPECT_EQ(primitive.results, 3);
  EXPECT_EQ(primitive.sends.count, 0);
  algorithm.primitive(call, algorithm.plan(), 1, 0, 3, primitive);  // the second signal
  EXPECT_TRUE(primitive.signal_only);
  EXPECT_EQ(primitive.size, Bytes(0));
  EXPECT_EQ(primitive.sends.first, 2);
  EXPECT_EQ(primitive.sends.count, 2);
  EXPECT_THAT(primitive.stores_to, IsEmpty());
}

TEST(PlanAlgorithm, ProxiesSendDataAsMessages) {
  const PlanAlgorithm algorithm = algorithm_of(port_plan(3));
  const GroupLayout layout = make_block_layout(3, 1);
  const CollectiveCall call = call_of(layout, CollectiveKind::kAllGather, Bytes(3 << 20));
  Primitive primitive;
  algorithm.primitive(call, algorithm.plan(), 0, 0, 0, primitive);
  EXPECT_FALSE(primitive.signal_only);
  EXPECT_EQ(primitive.size, 1_MiB);
  EXPECT_EQ(primitive.sends.count, 2);
  algorithm.primitive(call, algorithm.plan(), 0, 0, 2, primitive);  // waits for two signals and the data before them
  EXPECT_EQ(primitive.receives.count, 4);
}

TEST(PlanAlgorithm, MatchesCallsOfItsKindSizeAndHosts) {
  const PlanAlgorithm loads = algorithm_of(read_all_plan(4));
  const GroupLayout one = make_block_layout(4, 4);
  const GroupLayout two = make_block_layout(4, 2);
  EXPECT_TRUE(loads.matches(call_of(one, CollectiveKind::kAllReduce)));
  EXPECT_FALSE(loads.matches(call_of(one, CollectiveKind::kAllGather)));
  EXPECT_FALSE(
      loads.matches(call_of(one, CollectiveKind::kAllReduce, Bytes(100))));  // no 16 bytes for each of 4 chunks
  EXPECT_FALSE(loads.matches(call_of(two, CollectiveKind::kAllReduce)));     // NVLink ends at the host
  EXPECT_TRUE(algorithm_of(port_plan(4)).matches(call_of(two, CollectiveKind::kAllGather)));
}

TEST(PlanAlgorithm, IsChosenBeforeNccl) {
  const FixedTuner rings({.algorithm = "ring", .channels = 2});
  const PlannedChooser planned(rings);
  auto plan = parse_execution_plan(read_all_plan(4), "p.json");
  ASSERT_TRUE(plan.has_value());
  const FileChooser chooser({}, {*plan}, planned);
  const GroupLayout one = make_block_layout(4, 4);
  EXPECT_EQ(chooser.choose(call_of(one, CollectiveKind::kAllReduce)).algorithm->name(), "own");
  EXPECT_EQ(chooser.choose(call_of(one, CollectiveKind::kAllGather)).algorithm->name(), "ring");
}

}  // namespace
}  // namespace ringwright::collectives::plan_algorithm_test
