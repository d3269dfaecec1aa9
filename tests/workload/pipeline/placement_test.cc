#include "workload/pipeline/placement.h"

#include <gtest/gtest.h>

namespace ringwright::workload::placement_test {
namespace {

TEST(Placement, EveryPartHasItsNeighboursWhereTheyLie) {
  for (const Placement placement : {Placement::kLooped, Placement::kVee, Placement::kBidirectional}) {
    const PipelineShape shape{.placement = placement, .stages = 4, .chunks = 2};
    for (int stage = 0; stage < 4; ++stage) {
      for (int chunk = 0; chunk < 2; ++chunk) {
        const int part = part_at(shape, {stage, chunk});
        const auto next = neighbour(shape, {stage, chunk}, 1);
        ASSERT_EQ(next.has_value(), part + 1 < shape.parts());
        if (!next) continue;
        EXPECT_EQ(part_at(shape, *next), part + 1);
        EXPECT_EQ(neighbour(shape, *next, -1), (ChunkPosition{stage, chunk}));
      }
    }
  }
}

TEST(Placement, LoopsStartAgainAtTheFirstStage) {
  const PipelineShape shape{.stages = 4, .chunks = 2};
  EXPECT_EQ(part_at(shape, {3, 1}), 7);
  EXPECT_EQ(neighbour(shape, {3, 0}, 1), (ChunkPosition{0, 1}));
}

TEST(Placement, AVTurnsOnTheLastStage) {
  const PipelineShape shape{.placement = Placement::kVee, .stages = 4, .chunks = 2};
  EXPECT_EQ(part_at(shape, {0, 1}), 7);
  EXPECT_EQ(neighbour(shape, {3, 0}, 1), (ChunkPosition{3, 1}));
}

TEST(Placement, TwoDirectionsAreTwoCopiesOfTheModel) {
  const PipelineShape shape{.placement = Placement::kBidirectional, .stages = 4, .chunks = 2};
  EXPECT_EQ(shape.parts(), 4);
  EXPECT_EQ(part_at(shape, {3, 1}), 0);
  EXPECT_EQ(neighbour(shape, {3, 1}, 1), (ChunkPosition{2, 1}));
}

}  // namespace
}  // namespace ringwright::workload::placement_test
