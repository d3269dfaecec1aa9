// A cached partition equals the one that would be computed again.
#include "core/symmetry/fold_memory.h"

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/doubles.h"
#include "tests/support/reference_step.h"

namespace ringwright::fold_memory_test {
namespace {

using namespace ringwright::literals;

TaskGraph step(Bytes activation, int microbatches = 8, int replicas = 16) {
  return test::make_reference_step({.stages = 4,
                                    .replicas = replicas,
                                    .microbatches = microbatches,
                                    .activation = activation,
                                    .gradient = 256_MiB,
                                    .forward = 2_ms,
                                    .backward = 4_ms});
}

class FoldMemoryTest : public testing::Test {
 protected:
  void expect_as_found_anew(const TaskGraph& graph, const CallOverhead* overhead = nullptr) {
    const Choosers choosers(chooser_, nullptr, nullptr, overhead);
    const Folding remembered = memory_.fold(graph, choosers, fabric_);
    const Folding found = fold(graph, choosers, fabric_);
    EXPECT_EQ(remembered.ranks.class_of, found.ranks.class_of);
    EXPECT_EQ(remembered.ranks.representative, found.ranks.representative);
    EXPECT_EQ(remembered.ranks.size, found.ranks.size);
    EXPECT_EQ(remembered.links.class_of, found.links.class_of);
  }

  const peers::ReferenceFabric fabric_{{.gpus = 512,
                                        .hosts_per_pod = 4,
                                        .uplinks = 2,
                                        .pods_per_superpod = 2,
                                        .core_uplinks = 4,
                                        .rule = peers::RouteRule::kDModK}};
  const test::AlwaysChoose chooser_{*collectives::algorithms().front()};
  FoldMemory memory_;
};

TEST_F(FoldMemoryTest, KnowsAStepThatSendsOtherBytes) {
  expect_as_found_anew(step(16_MiB));
  expect_as_found_anew(step(4_MiB));
  expect_as_found_anew(step(4_MiB, 12));
  EXPECT_EQ(memory_.size(), 1U);
}

TEST_F(FoldMemoryTest, DistinguishesStepsWithOtherEqualRanks) {
  expect_as_found_anew(step(16_MiB));
  TaskGraph slow_host = step(16_MiB);
  slow_host.compute_slowdown.assign(slow_host.rank_count(), 1.0);
  for (std::size_t rank = 40; rank < 48; ++rank) slow_host.compute_slowdown[rank] = 1.05;
  expect_as_found_anew(slow_host);
  expect_as_found_anew(step(16_MiB, 8, 8));
  expect_as_found_anew(step(16_MiB));
  EXPECT_EQ(memory_.size(), 3U);
}

// The same ranks, but one name has become two: messages of two stages no longer have the same length.
TEST_F(FoldMemoryTest, DistinguishesEqualNamesFromDifferentOnes) {
  expect_as_found_anew(step(16_MiB));
  TaskGraph uneven = step(16_MiB);
  uneven.messages[uneven.programs[1].tasks[0].detail].bytes = 1_MiB;
  expect_as_found_anew(uneven);
  EXPECT_EQ(memory_.size(), 2U);
}

// A detour of half of the senders, which only long messages notice.
class LongMessagesDiffer final : public CallOverhead {
 public:
  Duration of(const CollectiveCall& /*call*/) const override { return 3_us; }
  Duration of(const MessageBetween& message) const override {
    return message.call.bytes > 8_MiB && message.sender.index() % 2 == 1 ? 5_us : 1_us;
  }
  std::uint64_t ends(const MessageBetween& message) const override { return message.sender.index() % 2; }
};

TEST_F(FoldMemoryTest, AsksForTheOverheadOfMessagesAnew) {
  const LongMessagesDiffer overhead;
  expect_as_found_anew(step(4_MiB), &overhead);
  expect_as_found_anew(step(16_MiB), &overhead);
  expect_as_found_anew(step(8_MiB), &overhead);
  EXPECT_EQ(memory_.size(), 2U);
}

}  // namespace
}  // namespace ringwright::fold_memory_test
