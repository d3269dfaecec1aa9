// Orders without their repeated cycles meet the same situations as the whole orders.
#include "workload/pipeline/steady_passes.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "workload/builtin.h"

namespace ringwright::workload::steady_passes_test {
namespace {

// What is in flight of each chunk before a pass, and which pass it is.
using InFlight = std::map<int, std::pair<int, int>>;
using Situation = std::tuple<InFlight, Pass, int, bool>;

std::set<Situation> situations(const std::vector<Slot>& slots) {
  std::set<Situation> met;
  InFlight now;
  for (const Slot& slot : slots) now[slot.chunk] = {0, 0};
  for (const Slot& slot : slots) {
    met.insert({now, slot.pass, slot.chunk, slot.joined});
    auto& [held, waiting] = now[slot.chunk];
    if (slot.pass == Pass::kForward) ++held;
    if (ends_microbatch(slot.pass)) --held;
    if (slot.pass == Pass::kInputGradient) ++waiting;
    if (slot.pass == Pass::kWeightGradient) --waiting;
  }
  return met;
}

int chunks_of(const ScheduleEntry& entry) {
  switch (entry.chunks) {
    case ChunkSupport::kOne: return 1;
    case ChunkSupport::kTwo: return 2;
    case ChunkSupport::kMany: return 3;
  }
  return 1;
}

TEST(SteadyPasses, MeetWhatTheWholeOrderMeets) {
  for (const ScheduleEntry& entry : schedules()) {
    for (const int stages : {2, 4, 6}) {
      for (const int microbatches : {12, 24, 120}) {
        const PipelineOrder order =
            entry.order({.stages = stages, .chunks = chunks_of(entry), .microbatches = microbatches});
        for (const std::vector<Slot>& slots : order) {
          const std::vector<Slot> few = without_repeated_cycles(slots);
          EXPECT_EQ(situations(few), situations(slots)) << entry.name << " " << stages << " " << microbatches;
        }
      }
    }
  }
}

// 120 microbatches on 4 stages: stage s warms up with 3 - s, and as many are left at the end; one cycle in between.
TEST(SteadyPasses, OfOneForwardOneBackwardAreWarmupOneCycleAndTheRest) {
  const PipelineOrder order = one_f_one_b_order({.stages = 4, .chunks = 1, .microbatches = 120});
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    EXPECT_EQ(without_repeated_cycles(order[stage]).size(), 2 * (3 - stage) + 2) << stage;
  }
}

// A cycle of interleaved stages is a group of as many microbatches as stages through all chunks.
TEST(SteadyPasses, OfManyMicrobatchesAreFew) {
  for (const std::vector<Slot>& slots : interleaved_order({.stages = 4, .chunks = 3, .microbatches = 400})) {
    EXPECT_LT(without_repeated_cycles(slots).size(), 100U);
  }
}

// All forward passes come first: each adds one more, though the middle repeats itself.
TEST(SteadyPasses, StayWholeWhereACycleAddsSomething) {
  for (const std::vector<Slot>& slots : gpipe_order({.stages = 4, .chunks = 1, .microbatches = 50})) {
    EXPECT_EQ(without_repeated_cycles(slots), slots);
  }
}

TEST(SteadyPasses, OfNothingAreNone) { EXPECT_TRUE(without_repeated_cycles({}).empty()); }

}  // namespace
}  // namespace ringwright::workload::steady_passes_test
