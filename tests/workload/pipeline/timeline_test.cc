#include "workload/pipeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/builtin.h"

namespace ringwright::workload::timeline_test {
namespace {

constexpr PassTimes kTimes{.forward = 10, .input = 12, .weight = 7};  // F, B, W
constexpr std::int64_t kF = kTimes.forward;
constexpr std::int64_t kB = kTimes.input;
constexpr std::int64_t kW = kTimes.weight;
constexpr PassTimes kEqual{};
constexpr PassTimes kLikeForward{.forward = kF, .input = kF, .weight = kW};

Timeline play(ScheduleRule rule, const PipelineShape& shape, int m, const PassTimes& times = kTimes, int group = 0) {
  const PipelineOrder order =
      rule({.stages = shape.stages, .chunks = shape.chunks, .microbatches = m, .group = group});
  Timeline timeline = play_order(order, shape, m, times);
  EXPECT_TRUE(timeline.finished);
  return timeline;
}

PipelineShape vee(int p) {
  return {.placement = Placement::kVee, .stages = p, .chunks = 2};
}

TEST(Timeline, GPipeAndOneForwardOneBackwardHaveTheSameBubble) {
  for (const int p : {1, 2, 4, 7}) {
    for (const int m : {p, 2 * p + 1, 4 * p}) {
      // (p-1)(F+B+W): Huang et al., arXiv 1811.06965; Narayanan et al., arXiv 2104.04473.
      EXPECT_EQ(play(gpipe_order, {.stages = p}, m).bubble(), (p - 1) * (kF + kB + kW)) << p << " " << m;
      EXPECT_EQ(play(one_f_one_b_order, {.stages = p}, m).bubble(), (p - 1) * (kF + kB + kW)) << p << " " << m;
    }
  }
}

TEST(Timeline, InterleavingDividesTheBubbleByTheNumberOfChunks) {
  // (p-1)(F+B+W)/v, with times of a whole stage; here times are those of a chunk.
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 3, 4}) {
      EXPECT_EQ(play(interleaved_order, {.stages = p, .chunks = v}, 4 * p).bubble(), (p - 1) * (kF + kB + kW))
          << p << " " << v;
    }
  }
}

TEST(Timeline, MicrobatchesThatDoNotFillTheLastGroupCostABubbleForEveryFurtherChunk) {
  // (v-1)(p - m mod p) passes of a chunk more: Calculon's rule, exact where there is less than one group.
  for (const int v : {2, 3, 4}) {
    for (const int m : {1, 2, 3}) {
      EXPECT_EQ(play(interleaved_order, {.stages = 4, .chunks = v}, m, kEqual).bubble(),
                (4 - 1) * 3 + (v - 1) * (4 - m % 4) * 3)
          << v << " " << m;
    }
  }
}

TEST(Timeline, AGroupThatTakesTheRemainderSavesThatBubble) {
  EXPECT_EQ(play(interleaved_order, {.stages = 4, .chunks = 2}, 5, kEqual, 5).bubble(), (4 - 1) * 3);
}

TEST(Timeline, ZeroBubbleOneSavesTwoWeightGradientsOfOneForwardOneBackward) {
  // (p-1)(F+B-W): Qi et al., arXiv 2401.10241, Table 1.
  for (const int p : {2, 4, 8}) {
    for (const int m : {p, 2 * p + 1, 4 * p}) {
      EXPECT_EQ(play(zb_h1_order, {.stages = p}, m).bubble(), (p - 1) * (kF + kB - kW)) << p << " " << m;
    }
  }
  EXPECT_EQ(3 * play(zb_h1_order, {.stages = 8}, 24, kEqual).bubble(),
            play(one_f_one_b_order, {.stages = 8}, 24, kEqual).bubble());
}

TEST(Timeline, ZeroBubbleTwoHasNoneOnAStagesOwnTimeLineWhenPassesAreEqual) {
  // (p-1)(F+B-2W): Qi et al., Table 1. Stages end with the same offsets as they started, unless one waits.
  for (const int p : {2, 4, 8}) {
    for (const int m : {2 * p, 3 * p, 4 * p}) {
      EXPECT_EQ(play(zb_h2_order, {.stages = p}, m).bubble_of_own(), (p - 1) * (kF + kB - 2 * kW)) << p << " " << m;
      EXPECT_EQ(play(zb_h2_order, {.stages = p}, m, kEqual).bubble_of_own(), 0);
      EXPECT_EQ(play(zb_h2_order, {.stages = p}, m, kEqual).bubble(), p - 1);
    }
  }
}

TEST(Timeline, ZeroBubbleVHasNoBubbleWhenPassesAreEqual) {
  for (const int p : {2, 3, 4, 8, 16}) {
    for (const int m : {2 * p, 3 * p + 1, 4 * p}) {
      EXPECT_EQ(play(zb_v_order, vee(p), m, kEqual).bubble_of_own(), 0) << p << " " << m;
    }
  }
}

TEST(Timeline, HalfOfTheMemoryCostsHalfOfTheBubbleOfOneForwardOneBackward) {
  for (const int p : {2, 4, 8, 16}) {
    // A stage of 1F1B is two chunks: (p-1) 6.
    EXPECT_EQ(play(v_half_order, vee(p), 4 * p, kEqual).bubble(), (p - 1) * 6 / 2) << p;
  }
}

TEST(Timeline, AThirdOfTheMemoryCostsTwoThirdsOfTheBubbleOfOneForwardOneBackward) {
  for (const int p : {4, 8, 16}) {
    const std::int64_t bubble = play(v_min_order, vee(p), 4 * p, kEqual).bubble();
    EXPECT_LE(bubble, (p - 1) * 6 * 2 / 3) << p;
    EXPECT_GE(bubble, (p - 1) * 6 * 3 / 5) << p;
  }
}

TEST(Timeline, DualPipeHasTheBubbleThatItsAuthorsGive) {
  // (p/2-1)(F&B + B - 3W), where F&B = F + B + W, and the whole backward pass is B + W: DualPipe's README, whose
  // picture has input gradients as long as forward passes.
  for (const int p : {2, 4, 8}) {
    for (const int m : {2 * p, 4 * p}) {
      const PipelineShape shape{.placement = Placement::kBidirectional, .stages = p, .chunks = 2};
      EXPECT_EQ(play(dualpipe_order, shape, m, kLikeForward).bubble(),
                (p / 2 - 1) * ((kF + kF + kW) + (kF + kW) - 3 * kW))
          << p << " " << m;
    }
  }
}

TEST(Timeline, DualPipeCutInHalfHasTheBubbleOfTwiceTheStages) {
  for (const int p : {1, 2, 4, 8}) {
    for (const int m : {2 * p, 4 * p}) {
      EXPECT_EQ(play(dualpipe_v_order, vee(p), m, kLikeForward).bubble(),
                (p - 1) * ((kF + kF + kW) + (kF + kW) - 3 * kW))
          << p << " " << m;
    }
  }
}

TEST(Timeline, AnOrderThatCannotGoOnIsLeftUnfinished) {
  PipelineOrder order = one_f_one_b_order({.stages = 2, .chunks = 1, .microbatches = 2});
  std::swap(order[0], order[1]);  // the first stage wants a gradient before it has sent enough
  const Timeline timeline = play_order(order, {.stages = 2}, 2, kTimes);
  EXPECT_FALSE(timeline.finished);
  EXPECT_EQ(timeline.stages[0].played, 1U);
}

TEST(Timeline, JoinedPassesStartAndEndTogether) {
  // F1 and B0 are one block of F + B + W on the first stage: the block waits for the gradient of microbatch 0.
  const Slot f0{Pass::kForward, 0, 0}, f1{Pass::kForward, 1, 0}, b0{Pass::kBackward, 0, 0}, b1{Pass::kBackward, 1, 0};
  Slot joined = f1;
  joined.joined = true;
  const Timeline timeline = play_order({{f0, joined, b0, b1}, {f0, b0, f1, b1}}, {.stages = 2}, 2, kTimes);
  // F, then F and B + W of stage 1; the block; F and B + W of microbatch 1 on stage 1; its B + W.
  EXPECT_EQ(timeline.end(), 3 * kF + 2 * (kB + kW) + kF + 2 * (kB + kW));
}

// Two stages, two microbatches, F B F B on the second: it begins after F of the first stage, and each of its passes is
// as long as its own chunk.
TEST(Timeline, PassesTakeTheTimesOfTheirChunk) {
  const std::vector<PassTimes> times = {{.forward = 1, .input = 2, .weight = 3},
                                        {.forward = 50, .input = 60, .weight = 70}};
  const PipelineOrder order = one_f_one_b_order({.stages = 2, .microbatches = 2});
  const Timeline timeline = play_parts(order, {.stages = 2}, 2, times);
  ASSERT_TRUE(timeline.finished);
  EXPECT_EQ(timeline.stages[0].busy, 2 * (1 + 2 + 3));
  EXPECT_EQ(timeline.stages[1].busy, 2 * (50 + 60 + 70));
  EXPECT_EQ(timeline.stages[1].start, 1);
  EXPECT_EQ(timeline.end(), 1 + 2 * (50 + 60 + 70) + 2 + 3);
}

}  // namespace
}  // namespace ringwright::workload::timeline_test
