#include "collectives/astra/phases.h"

#include <gtest/gtest.h>

#include "collectives/astra/trees.h"

namespace ringwright::collectives::phases_test {
namespace {

AstraCall call_of(CollectiveKind kind, std::int64_t bytes, std::vector<std::uint32_t> dimensions,
                  std::vector<std::string> algorithms) {
  AstraCall call{.kind = kind, .bytes = bytes, .dimensions = dimensions, .splits = 4};
  call.involved.assign(dimensions.size(), true);
  for (const std::string& name : algorithms) call.algorithms.push_back(*parse_astra_algorithm(name));
  for (const std::uint32_t nodes : dimensions) call.job_ranks *= nodes;
  return call;
}

TEST(AstraAlgorithm, NamesSurviveARoundTrip) {
  for (const std::string& name : astra_algorithm_names()) {
    ASSERT_TRUE(parse_astra_algorithm(name).has_value()) << name;
    EXPECT_EQ(to_string(*parse_astra_algorithm(name)), name);
  }
  EXPECT_EQ(parse_astra_algorithm("direct12")->window, 12U);
  EXPECT_FALSE(parse_astra_algorithm("direct0").has_value());
  EXPECT_FALSE(parse_astra_algorithm("Ring").has_value());
}

TEST(AstraPhases, ChunksAreFullSizeAndTheLastOneMayOverlap) {
  // 1026 / 4 = 256 bytes, of which 1026 need five.
  EXPECT_EQ(astra_collective(call_of(CollectiveKind::kAllReduce, 1026, {8}, {"ring"}))->chunks, 5U);
  // Chunks have at least a byte per rank: four of 8 bytes.
  const auto small = astra_collective(call_of(CollectiveKind::kAllReduce, 3, {8}, {"ring"}));
  EXPECT_EQ(small->chunks, 4U);
  EXPECT_EQ(small->phases.front().steps.front().bytes, 1);
}

TEST(AstraPhases, AnAllReduceScattersUpwardAndGathersDownward) {
  const auto made = astra_collective(call_of(CollectiveKind::kAllReduce, 4096, {4, 1, 2}, {"ring", "ring", "ring"}));
  ASSERT_EQ(made->phases.size(), 3U);
  EXPECT_EQ(made->phases[0].steps.front().bytes, 1024 / 4);  // reduce-scatter over 4
  EXPECT_EQ(made->phases[1].steps.front().bytes, 256 / 2);   // all-reduce over 2, ranks 4 apart
  EXPECT_EQ(made->phases[1].stride, 4U);
  EXPECT_EQ(made->phases[1].dimension, 2U);
  EXPECT_EQ(made->phases[2].steps.front().bytes, 256);  // all-gather of a shard
}

TEST(AstraPhases, TheBaselineReducesInEachDimension) {
  AstraCall call = call_of(CollectiveKind::kAllReduce, 4096, {4, 2}, {"ring", "ring"});
  call.local_bandwidth_aware = false;
  const auto made = astra_collective(call);
  ASSERT_EQ(made->phases.size(), 2U);
  EXPECT_EQ(made->phases[1].steps.front().bytes, 1024 / 2);
}

TEST(AstraPhases, FlatAlgorithmsSeeOneDimension) {
  const auto made = astra_collective(call_of(CollectiveKind::kAllGather, 4096, {4, 2}, {"oneRing", "oneRing"}));
  ASSERT_EQ(made->phases.size(), 1U);
  EXPECT_EQ(made->phases[0].nodes, 8U);
}

TEST(AstraPhases, HalvingDoublingHalvesAndDoubles) {
  const ChunkPhase phase = astra_steps({.kind = CollectiveKind::kAllReduce,
                                        .algorithm = *parse_astra_algorithm("halvingDoubling"),
                                        .nodes = 8,
                                        .bytes = 1008});
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> distances;
  for (const MessageStep& step : phase.steps) {
    sizes.push_back(step.bytes);
    distances.push_back(step.distance);
  }
  EXPECT_EQ(distances, (std::vector<std::uint32_t>{1, 2, 4, 4, 2, 1}));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{504, 252, 126, 126, 252, 504}));
}

TEST(AstraPhases, WhatCannotBeCarriedOutIsExplained) {
  EXPECT_EQ(astra_collective(call_of(CollectiveKind::kAllReduce, 4096, {6}, {"halvingDoubling"})).error(),
            "halvingDoubling needs a power of two of ranks, and dimension 0 has 6");
  EXPECT_EQ(astra_collective(call_of(CollectiveKind::kAllToAll, 4096, {8}, {"halvingDoubling"})).error(),
            "halvingDoubling has no all-to-all");
  EXPECT_EQ(astra_collective(call_of(CollectiveKind::kAllGather, 4096, {8}, {"doubleBinaryTree"})).error(),
            "doubleBinaryTree only has an all-reduce");
}

// Over 8: 0 is the root above 4, which is above 2 and 6, which are above the odd ones.
TEST(AstraTree, IsFullBelowItsRoot) {
  const std::vector<TreeRole> roles = astra_tree(8, AstraTreeRoot::kLowest);
  EXPECT_EQ(roles[0], (TreeRole{.parent = kNoPosition, .left = kNoPosition, .right = 4}));
  EXPECT_EQ(roles[4], (TreeRole{.parent = 0, .left = 2, .right = 6}));
  EXPECT_EQ(roles[6], (TreeRole{.parent = 4, .left = 5, .right = 7}));
  EXPECT_EQ(roles[5], (TreeRole{.parent = 6, .left = kNoPosition, .right = kNoPosition}));
  const std::vector<TreeRole> other = astra_tree(8, AstraTreeRoot::kHighest);
  EXPECT_EQ(other[7], (TreeRole{.parent = kNoPosition, .left = 3, .right = kNoPosition}));
  EXPECT_EQ(other[5], (TreeRole{.parent = 3, .left = 4, .right = 6}));
}

}  // namespace
}  // namespace ringwright::collectives::phases_test
