#include "workload/pipeline/schedule.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/builtin.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Slot F(int microbatch, int chunk = 0) {
  return {Pass::kForward, microbatch, chunk};
}
constexpr Slot B(int microbatch, int chunk = 0) {
  return {Pass::kBackward, microbatch, chunk};
}

TEST(Schedule, EveryScheduleIsLegalForAllSmallSizes) {
  int checked = 0;
  for (const ScheduleEntry& entry : schedules()) {
    for (int p = 1; p <= 8; ++p) {
      for (int v = 1; v <= (entry.chunks == ChunkSupport::kMany && p > 1 ? 4 : 1); ++v) {
        for (int m = 1; m <= 3 * p + 1; ++m) {
          if (v > 1 && m % p != 0) continue;
          if (entry.chunks == ChunkSupport::kMany && m % p != 0) continue;
          const auto verdict = check_schedule(entry.order, {.stages = p, .chunks = v, .microbatches = m});
          EXPECT_THAT(verdict.problem, IsEmpty()) << entry.name << " p " << p << " v " << v << " m " << m;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 300);
}

TEST(Schedule, GPipeHoldsEveryMicrobatch) {
  EXPECT_THAT(check_schedule(gpipe_order, {.stages = 4, .chunks = 1, .microbatches = 10}).held_at_peak,
              ElementsAre(10, 10, 10, 10));
}

TEST(Schedule, OneForwardOneBackwardHoldsWhatLiesAheadOfAStage) {
  // min(m, p - i), formulas of Narayanan et al.
  EXPECT_THAT(check_schedule(one_f_one_b_order, {.stages = 4, .chunks = 1, .microbatches = 10}).held_at_peak,
              ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(check_schedule(one_f_one_b_order, {.stages = 4, .chunks = 1, .microbatches = 2}).held_at_peak,
              ElementsAre(2, 2, 2, 1));
}

TEST(Schedule, InterleavingHoldsPMinusOneMoreChunks) {
  // p v (1 + (p - 1) / (p v)) = p v + p - 1 chunks on the first stage: Korthikanti et al., section 4.2.3.
  for (const int v : {2, 3, 4}) {
    const auto verdict = check_schedule(interleaved_order, {.stages = 4, .chunks = v, .microbatches = 16});
    EXPECT_EQ(verdict.held_at_peak.front(), 4 * v + 3) << v;
  }
}

TEST(Schedule, OneForwardOneBackwardStartsLateStagesAtOnce) {
  EXPECT_THAT(one_f_one_b_order({.stage = 1, .stages = 2, .chunks = 1, .microbatches = 3}),
              ElementsAre(F(0), B(0), F(1), B(1), F(2), B(2)));
  EXPECT_THAT(one_f_one_b_order({.stage = 0, .stages = 2, .chunks = 1, .microbatches = 3}),
              ElementsAre(F(0), F(1), B(0), F(2), B(1), B(2)));
}

TEST(Schedule, InterleavingTakesGroupsOfMicrobatchesThroughTheChunks) {
  // Two stages, two chunks, four microbatches, last stage: two warm-up passes, (v - 1) p.
  EXPECT_THAT(interleaved_order({.stage = 1, .stages = 2, .chunks = 2, .microbatches = 4}),
              ElementsAre(F(0, 0), F(1, 0), F(0, 1), B(0, 1), F(1, 1), B(1, 1), F(2, 0), B(0, 0), F(3, 0), B(1, 0),
                          F(2, 1), B(2, 1), F(3, 1), B(3, 1), B(2, 0), B(3, 0)));
}

TEST(Schedule, InterleavingWithOneChunkWarmsUpTwiceAsLongAsOneForwardOneBackward) {
  const auto verdict = check_schedule(interleaved_order, {.stages = 4, .chunks = 1, .microbatches = 8});
  EXPECT_THAT(verdict.held_at_peak, ElementsAre(7, 5, 3, 1));
}

std::vector<Slot> twice(const ScheduleRequest& request) {
  std::vector<Slot> slots = gpipe_order(request);
  slots.push_back(slots.front());
  return slots;
}

std::vector<Slot> backward_first(const ScheduleRequest& request) {
  std::vector<Slot> slots = gpipe_order(request);
  std::ranges::reverse(slots);
  return slots;
}

std::vector<Slot> too_few(const ScheduleRequest& request) {
  std::vector<Slot> slots = gpipe_order(request);
  slots.pop_back();
  return slots;
}

std::vector<Slot> beyond(const ScheduleRequest& request) {
  std::vector<Slot> slots = gpipe_order(request);
  slots.back().microbatch = request.microbatches;
  return slots;
}

TEST(Schedule, TheCheckTellsWhatIsWrong) {
  const ScheduleSize size{.stages = 2, .chunks = 1, .microbatches = 2};
  EXPECT_EQ(check_schedule(twice, size).problem, "stage 0: forward of microbatch 0, chunk 0 comes twice");
  EXPECT_EQ(check_schedule(backward_first, size).problem, "stage 0: backward of microbatch 1, chunk 0 waits for ever");
  EXPECT_EQ(check_schedule(too_few, size).problem, "stage 0: 3 passes instead of 4");
  EXPECT_EQ(check_schedule(beyond, size).problem, "stage 0: backward of microbatch 2, chunk 0 does not exist");
}

}  // namespace
}  // namespace ringwright::workload
