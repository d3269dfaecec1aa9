#include "workload/parallel/gather_schedule.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::gather_schedule_test {
namespace {

using testing::ElementsAre;

// Three layers of 10 elements (attention 4, MLP 6) between an embedding of 7 and a head of 5.
std::vector<ModelChunk> three_layers() {
  ModelChunk part{.number = 0, .layers = 3, .embedding = true, .head = true, .points = {}, .tensors = {}};
  const auto add = [&part](PointKind kind, std::int64_t elements) {
    part.points.push_back(kind);
    part.tensors.push_back({{.name = "w", .elements = elements}});
  };
  add(PointKind::kEmbedding, 7);
  for (int layer = 0; layer < 3; ++layer) {
    add(PointKind::kAttention, 4);
    add(PointKind::kMlp, 6);
  }
  add(PointKind::kHead, 5);
  return {part};
}

const std::vector<Slot> kOneMicrobatch = {{Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}};

GatherSchedule schedule_of(const ShardingOptions& options, const std::vector<Slot>& slots = kOneMicrobatch) {
  const ShardUnits units(three_layers(), options);
  return {units, options, units.uses(slots)};
}

std::vector<std::size_t> units_in_order(const GatherSchedule& schedule) {
  std::vector<std::size_t> units;
  for (const UnitUse& use : schedule.uses()) units.push_back(use.unit);
  return units;
}

int gathers(const GatherSchedule& schedule) {
  std::size_t count = 0;
  for (std::size_t use = 0; use < schedule.uses().size(); ++use) {
    count += schedule.before(use).size() + schedule.after(use).size();
  }
  return static_cast<int>(count);
}

std::int64_t most_live(const GatherSchedule& schedule) {
  std::int64_t most = 0;
  for (const GatherSchedule::Step& step : schedule.steps()) most = std::max(most, step.live);
  return most;
}

TEST(ShardUnits, ALayerIsAUnitAndTheEndsAreTwoOrOne) {
  EXPECT_THAT(units_in_order(schedule_of({})), ElementsAre(0, 1, 2, 3, 4, 4, 3, 2, 1, 0));
  EXPECT_THAT(units_in_order(schedule_of({.root_unit = true})), ElementsAre(0, 1, 2, 3, 0, 0, 3, 2, 1, 0));
}

TEST(ShardUnits, ShardsArePaddedAndSmallTensorsMayStayWhole) {
  const ShardUnits units(three_layers(), {.shard = 4, .persistence_threshold = 5});
  EXPECT_EQ(units.units()[1].elements, 10);
  EXPECT_EQ(units.units()[1].sharded, 6);  // the attention's 4 stay whole
  EXPECT_EQ(units.units()[1].padded, 8);
  EXPECT_EQ(units.persistent(), 12);
  EXPECT_EQ(units.elements(), 42);
}

// Between the two uses of the attention's 4 elements are the MLP's 6 twice; the MLP's come one after the other.
TEST(ShardUnits, ModulesAreGatheredAgainBeyondTheReuseDistance) {
  const auto regathered = [](std::int64_t distance) {
    return ShardUnits(three_layers(), {.max_reuse_distance = distance, .regathers = true}).units()[1].regathered;
  };
  EXPECT_EQ(regathered(0), 10);
  EXPECT_EQ(regathered(12), 4);
  EXPECT_EQ(regathered(13), 0);
  EXPECT_EQ(ShardUnits(three_layers(), {.max_reuse_distance = 0}).units()[1].regathered, 0);
  EXPECT_EQ(ShardUnits(three_layers(), {.max_reuse_distance = 0, .regathers = true}).units()[0].regathered, 0);
}

TEST(GatherSchedule, GathersEveryUnitTwiceAndOneAhead) {
  const GatherSchedule schedule = schedule_of({});
  EXPECT_EQ(gathers(schedule), 10);
  EXPECT_THAT(schedule.before(0), ElementsAre(0, 1));  // its own, and the first layer
  EXPECT_THAT(schedule.before(1), ElementsAre(2));
  EXPECT_EQ(most_live(schedule), 20);  // two layers
}

TEST(GatherSchedule, WithoutPrefetchEveryUnitIsGatheredForItself) {
  const GatherSchedule schedule = schedule_of({.prefetch = 0});
  for (std::size_t use = 0; use < schedule.uses().size(); ++use) {
    for (const std::size_t gathered : schedule.before(use)) EXPECT_EQ(gathered, use);
  }
  EXPECT_EQ(most_live(schedule), 10);
}

TEST(GatherSchedule, LookingAheadStopsAtTheLimitOfLiveElements) {
  EXPECT_EQ(most_live(schedule_of({.prefetch = 1000})), 42);  // the whole model
  EXPECT_LE(most_live(schedule_of({.prefetch = 1000, .max_live = 25})), 25);
}

TEST(GatherSchedule, WhatIsUsedAgainSoonStays) {
  // Between the two uses of the last layer lie the head's two, 10 elements.
  EXPECT_EQ(gathers(schedule_of({.max_reuse_distance = 11})), 8);
  EXPECT_EQ(gathers(schedule_of({.max_reuse_distance = 1000})), 5);
}

// DeepSpeed's trace of uses, in which it looks ahead, ends with a backward pass (partitioned_param_coordinator.py:
// reset_step): the five units of each microbatch are gathered, and none before it begins.
TEST(GatherSchedule, DeepSpeedKeepsAndGathersNothingForTheNextMicrobatch) {
  const GatherSchedule schedule =
      schedule_of({.prefetch = 1000, .max_reuse_distance = 1000, .one_trace_each = true},
                  {{Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}, {Pass::kForward, 1, 0}, {Pass::kBackward, 1, 0}});
  EXPECT_EQ(gathers(schedule), 10);
  EXPECT_THAT(schedule.before(0), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(schedule.before(10), ElementsAre(10, 11, 12, 13, 14));
}

// An output layer with the embedding's weights: ZeRO-3 gathers them for both once in each pass, torchtitan keeps the
// group of both.
TEST(GatherSchedule, TheEmbeddingIsGatheredForAnOutputLayerThatSharesIt) {
  std::vector<ModelChunk> parts = three_layers();
  parts.front().shares_output = true;
  const auto schedule_with = [&parts](const ShardingOptions& options) {
    const ShardUnits units(parts, options);
    return GatherSchedule(units, options, units.uses(kOneMicrobatch));
  };
  EXPECT_THAT(units_in_order(schedule_with({})), ElementsAre(0, 1, 2, 3, 0, 0, 3, 2, 1, 0));
  EXPECT_EQ(gathers(schedule_with({})), 2 + 3 * 2);
  EXPECT_EQ(gathers(schedule_with({.keep_head = true})), 1 + 3 * 2);
  EXPECT_EQ(gathers(schedule_with({.root_unit = true})), 1 + 3 * 2);
}

TEST(GatherSchedule, WithoutReshardingEveryUnitIsGatheredOnce) {
  EXPECT_EQ(gathers(schedule_of({.reshard_after_forward = false})), 5);
}

// Two microbatches: five units of three layers, embedding and head are gathered four times each, or after each backward
// pass once more, or once.
TEST(GatherSchedule, WithoutReshardingAfterABackwardPassUnitsStayToTheNext) {
  const std::vector<Slot> passes = {
      {Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}, {Pass::kForward, 1, 0}, {Pass::kBackward, 1, 0}};
  EXPECT_EQ(gathers(schedule_of({}, passes)), 20);
  EXPECT_EQ(gathers(schedule_of({.reshard_after_forward = false}, passes)), 10);
  EXPECT_EQ(gathers(schedule_of({.reshard_after_backward = false}, passes)), 15);
  const GatherSchedule once = schedule_of({.reshard_after_forward = false, .reshard_after_backward = false}, passes);
  EXPECT_EQ(gathers(once), 5);
  EXPECT_EQ(most_live(once), 42);  // the whole model
}

TEST(GatherSchedule, GradientsAreCompleteAfterTheLastUseOfAPass) {
  const GatherSchedule schedule = schedule_of({.root_unit = true});
  std::vector<std::size_t> complete;
  for (std::size_t use = 0; use < schedule.uses().size(); ++use) {
    if (schedule.steps()[use].completes_gradients) complete.push_back(schedule.uses()[use].unit);
  }
  EXPECT_THAT(complete, ElementsAre(3, 2, 1, 0));  // the root with its embedding, not with its head
}

TEST(GatherSchedule, OnlyTheLastMicrobatchHasLastGradients) {
  const GatherSchedule schedule = schedule_of(
      {}, {{Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}, {Pass::kForward, 1, 0}, {Pass::kBackward, 1, 0}});
  for (std::size_t use = 0; use < schedule.uses().size(); ++use) {
    const bool second = schedule.uses()[use].slot == 3;
    EXPECT_EQ(schedule.steps()[use].last_gradients, second) << use;
  }
}

// So many microbatches of a first chunk, and one of a second.
std::vector<Slot> cycles_and_an_end(int cycles) {
  std::vector<Slot> slots;
  for (int i = 0; i < cycles; ++i) {
    slots.insert(slots.end(), {{Pass::kForward, i, 0}, {Pass::kBackward, i, 0}});
  }
  slots.insert(slots.end(), {{Pass::kForward, 0, 1}, {Pass::kBackward, 0, 1}});
  return slots;
}

GatherSchedule schedule_of_cycles(const ShardingOptions& options, int cycles,
                                  const std::vector<std::size_t>& watched = {0, 2, 4, 6}) {
  std::vector<ModelChunk> parts = three_layers();
  parts.push_back(parts.front());
  const ShardUnits units(parts, options);
  return {units, options, units.uses(cycles_and_an_end(cycles)), watched};
}

std::vector<std::int64_t> live(const GatherSchedule& schedule, std::size_t first, std::size_t count) {
  std::vector<std::int64_t> result;
  for (std::size_t use = first; use < first + count; ++use) result.push_back(schedule.steps()[use].live);
  return result;
}

// A cycle has ten uses, and gathers 84 elements.
TEST(GatherSchedule, RepeatsWhereAMicrobatchSeesNothingBeyondTheNext) {
  for (const ShardingOptions& options : std::vector<ShardingOptions>{{},
                                                                     {.prefetch = 30},
                                                                     {.prefetch = 10'000},
                                                                     {.reshard_after_backward = false},
                                                                     {.max_reuse_distance = 25},
                                                                     {.prefetch = 30, .max_live = 25}}) {
    const GatherSchedule few = schedule_of_cycles(options, 3);
    const GatherSchedule many = schedule_of_cycles(options, 12);
    EXPECT_TRUE(few.repeats());
    for (std::size_t cycle = 1; cycle < 11; ++cycle) EXPECT_EQ(live(many, 10 * cycle, 10), live(few, 10, 10)) << cycle;
    EXPECT_EQ(live(many, 110, 20), live(few, 20, 20));
  }
}

// Nothing is released, so that the first microbatch already finds what comes after all of them.
TEST(GatherSchedule, DoesNotRepeatWhereItGathersWhatFollowsSeveralMicrobatches) {
  const ShardingOptions all{.reshard_after_forward = false, .reshard_after_backward = false, .prefetch = 10'000};
  EXPECT_FALSE(schedule_of_cycles(all, 4).repeats());
}

TEST(GatherSchedule, DoesNotRepeatWhereAMicrobatchLeavesOtherUnitsGatheredThanItFound) {
  const ShardingOptions keeps{.reshard_after_backward = false};
  EXPECT_FALSE(schedule_of_cycles(keeps, 5, {0, 0, 2, 4}).repeats());  // the first finds none
  EXPECT_TRUE(schedule_of_cycles(keeps, 5, {0, 2, 4, 6}).repeats());
}

}  // namespace
}  // namespace ringwright::workload::gather_schedule_test
