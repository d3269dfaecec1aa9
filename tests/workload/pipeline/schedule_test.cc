#include "workload/pipeline/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/builtin.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload::schedule_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Slot F(int microbatch, int chunk = 0) {
  return {Pass::kForward, microbatch, chunk};
}
constexpr Slot B(int microbatch, int chunk = 0) {
  return {Pass::kBackward, microbatch, chunk};
}

bool can_run(const ScheduleEntry& entry, int p, int m) {
  if (entry.placement == Placement::kBidirectional && (p % 2 != 0 || m % 2 != 0)) return false;
  return m >= entry.microbatches_per_stage * p;
}

int most_chunks(const ScheduleEntry& entry, int p) {
  if (entry.chunks == ChunkSupport::kOne) return 1;
  return entry.chunks == ChunkSupport::kTwo ? 2 : (p > 1 ? 4 : 1);
}

TEST(Schedule, EveryScheduleIsLegalForAllSmallSizes) {
  int checked = 0;
  for (const ScheduleEntry& entry : schedules()) {
    for (int p = 1; p <= 9; ++p) {
      for (int v = entry.chunks == ChunkSupport::kTwo ? 2 : 1; v <= most_chunks(entry, p); ++v) {
        for (int m = 1; m <= 4 * p + 1; ++m) {
          if (!can_run(entry, p, m) || (entry.chunks == ChunkSupport::kMany && m % p != 0)) continue;
          const PipelineShape shape{.placement = entry.placement, .stages = p, .chunks = v};
          const auto verdict = check_order(entry.order({.stages = p, .chunks = v, .microbatches = m}), shape, m);
          EXPECT_THAT(verdict.problem, IsEmpty()) << entry.name << " p " << p << " v " << v << " m " << m;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 1500);
}

std::vector<int> held(ScheduleRule rule, const PipelineShape& shape, int microbatches) {
  return check_order(rule({.stages = shape.stages, .chunks = shape.chunks, .microbatches = microbatches}), shape,
                     microbatches)
      .held_at_peak;
}

TEST(Schedule, GPipeHoldsEveryMicrobatch) {
  EXPECT_THAT(held(gpipe_order, {.stages = 4}, 10), ElementsAre(10, 10, 10, 10));
}

TEST(Schedule, OneForwardOneBackwardHoldsWhatLiesAheadOfAStage) {
  // min(m, p - i), formulas of Narayanan et al.
  EXPECT_THAT(held(one_f_one_b_order, {.stages = 4}, 10), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(held(one_f_one_b_order, {.stages = 4}, 2), ElementsAre(2, 2, 2, 1));
}

TEST(Schedule, InterleavingHoldsPMinusOneMoreChunks) {
  // p v (1 + (p - 1) / (p v)) = p v + p - 1 chunks on the first stage: Korthikanti et al., section 4.2.3.
  for (const int v : {2, 3, 4}) {
    EXPECT_EQ(held(interleaved_order, {.stages = 4, .chunks = v}, 16).front(), 4 * v + 3) << v;
  }
}

TEST(Schedule, OneForwardOneBackwardStartsLateStagesAtOnce) {
  const PipelineOrder order = one_f_one_b_order({.stages = 2, .chunks = 1, .microbatches = 3});
  EXPECT_THAT(order[1], ElementsAre(F(0), B(0), F(1), B(1), F(2), B(2)));
  EXPECT_THAT(order[0], ElementsAre(F(0), F(1), B(0), F(2), B(1), B(2)));
}

TEST(Schedule, InterleavingTakesGroupsOfMicrobatchesThroughTheChunks) {
  // Two stages, two chunks, four microbatches, last stage: two warm-up passes, (v - 1) p.
  EXPECT_THAT(interleaved_order({.stages = 2, .chunks = 2, .microbatches = 4})[1],
              ElementsAre(F(0, 0), F(1, 0), F(0, 1), B(0, 1), F(1, 1), B(1, 1), F(2, 0), B(0, 0), F(3, 0), B(1, 0),
                          F(2, 1), B(2, 1), F(3, 1), B(3, 1), B(2, 0), B(3, 0)));
}

TEST(Schedule, InterleavingWithOneChunkWarmsUpTwiceAsLongAsOneForwardOneBackward) {
  EXPECT_THAT(held(interleaved_order, {.stages = 4, .chunks = 1}, 8), ElementsAre(7, 5, 3, 1));
}

TEST(Schedule, LargerGroupsStayLongerOnAChunk) {
  // Three microbatches pass chunk 0 before the first passes chunk 1; the last group has what remains.
  const PipelineOrder order = interleaved_order({.stages = 2, .chunks = 2, .microbatches = 5, .group = 3});
  EXPECT_THAT(std::vector<Slot>(order[0].begin(), order[0].begin() + 5),
              ElementsAre(F(0, 0), F(1, 0), F(2, 0), F(0, 1), F(1, 1)));
  const PipelineShape shape{.stages = 2, .chunks = 2};
  EXPECT_THAT(check_order(order, shape, 5).problem, IsEmpty());
}

TEST(Schedule, ZeroBubbleSchedulesHoldTheSameOnEveryStage) {
  // Qi et al., arXiv 2401.10241, Table 1: p and 2p - 1 microbatches.
  EXPECT_THAT(held(zb_h1_order, {.stages = 4}, 12), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(held(zb_h2_order, {.stages = 4}, 12), ElementsAre(7, 7, 7, 7));
}

TEST(Schedule, VShapedSchedulesHoldTheirShareOfWhatOneForwardOneBackwardHolds) {
  // In chunks of half a stage, 1F1B holds 2p = 32: all of it, half and two chunks, a little over a third.
  const PipelineShape shape{.placement = Placement::kVee, .stages = 16, .chunks = 2};
  EXPECT_THAT(held(zb_v_order, shape, 64), testing::Each(32));
  EXPECT_THAT(held(v_half_order, shape, 64), testing::Each(testing::Le(18)));
  EXPECT_THAT(held(v_min_order, shape, 64), testing::Each(testing::Le(13)));
}

TEST(Schedule, DualPipeHoldsOneMicrobatchMoreThanStages) {
  // p + 1: DeepSeek-V3, Table 2. Cut in half, p stages act as 2p.
  EXPECT_THAT(held(dualpipe_order, {.placement = Placement::kBidirectional, .stages = 8, .chunks = 2}, 20),
              testing::Each(9));
  EXPECT_THAT(held(dualpipe_v_order, {.placement = Placement::kVee, .stages = 4, .chunks = 2}, 20),
              testing::Each(9));
}

TEST(Schedule, DualPipeSendsHalfOfTheMicrobatchesFromEachEnd) {
  const PipelineOrder order = dualpipe_order({.stages = 4, .chunks = 2, .microbatches = 8});
  EXPECT_EQ(order.front().front(), F(0, 0));
  EXPECT_EQ(order.back().front(), F(1, 1));
}

}  // namespace
}  // namespace ringwright::workload::schedule_test
