// Replays end when the simulation pass by pass does.
#include "workload/pipeline/order_replay.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "workload/builtin.h"

namespace ringwright::workload::order_replay_test {
namespace {

PipelineShape shape_of(const ScheduleEntry& entry, int stages) {
  const int chunks = entry.chunks == ChunkSupport::kOne ? 1 : 2;
  return {.placement = entry.placement, .stages = stages, .chunks = chunks};
}

std::vector<PassTimes> random_times(const PipelineShape& shape, RandomStream& random) {
  std::vector<PassTimes> times;
  for (int part = 0; part < shape.parts(); ++part) {
    times.push_back({.forward = static_cast<std::int64_t>(1 + random.next_below(50)),
                     .input = static_cast<std::int64_t>(1 + random.next_below(50)),
                     .weight = static_cast<std::int64_t>(random.next_below(50))});
  }
  return times;
}

void expect_as_timeline(const PipelineOrder& order, const PipelineShape& shape, int microbatches,
                        RandomStream& random) {
  OrderReplay replay(shape, microbatches);
  for (int round = 0; round < 3; ++round) {
    const std::vector<PassTimes> times = random_times(shape, random);
    const Timeline timeline = play_parts(order, shape, microbatches, times);
    const auto ends = replay.play(order, times);
    ASSERT_TRUE(timeline.finished && ends);
    EXPECT_EQ(ends->last, timeline.end());
    EXPECT_EQ(ends->first_stage, timeline.stages.front().end);
  }
}

TEST(OrderReplay, EndsWithTheTimelineForAnyTimes) {
  RandomStream random(3, "replays");
  for (const ScheduleEntry& entry : schedules()) {
    for (const int stages : {2, 4, 6}) {
      const PipelineShape shape = shape_of(entry, stages);
      for (const int microbatches : {12, 36}) {
        SCOPED_TRACE(entry.name);
        expect_as_timeline(entry.order({.stages = stages, .chunks = shape.chunks, .microbatches = microbatches}), shape,
                           microbatches, random);
      }
    }
  }
}

// Joined passes are one block: it begins when the inputs of all of them are there.
TEST(OrderReplay, JoinedPassesAreOneBlock) {
  RandomStream random(4, "joined replays");
  const PipelineShape shape{.stages = 4};
  PipelineOrder order = one_f_one_b_order({.stages = 4, .chunks = 1, .microbatches = 12});
  for (std::vector<Slot>& slots : order) {
    // F3 F4 B0 F5 B1 instead of F3 B0 F4 B1 F5: a forward pass and the one after it do not wait for each other.
    for (std::size_t i = 6; i + 1 < slots.size(); ++i) {
      if (slots[i].pass != Pass::kBackward || slots[i + 1].pass != Pass::kBackward) continue;
      slots[i].joined = true;
      ++i;
    }
  }
  expect_as_timeline(order, shape, 12, random);
}

TEST(OrderReplay, SeesThatStagesWaitForever) {
  PipelineOrder order = one_f_one_b_order({.stages = 2, .chunks = 1, .microbatches = 4});
  std::swap(order[1][0], order[1][1]);  // a backward pass before its forward pass
  EXPECT_FALSE(OrderReplay({.stages = 2}, 4).play(order, std::vector<PassTimes>(2)));
}

}  // namespace
}  // namespace ringwright::workload::order_replay_test
