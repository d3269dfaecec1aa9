#include "core/report/pipeline_bubble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::pipeline_bubble_test {
namespace {

using namespace ringwright::literals;

// 60 ms of computing, 10 ms of exposed tensor parallelism, 5 ms of exposed messages, 25 ms idle.
TimeBreakdown stage(const std::string& name) {
  return {.of = name,
          .ranks = 1,
          .computing = 60_ms,
          .dimensions =
              {{.name = "tp", .exposed = 10_ms, .hidden = {}, .in_flight = 10_ms, .sent = {}},
               {.name = "pp", .joins_stages = true, .exposed = 5_ms, .hidden = {}, .in_flight = 5_ms, .sent = {}}},
          .idle = 25_ms,
          .total = 100_ms};
}

TEST(PipelineBubble, BothShares) {
  const std::vector<StageBubble> bubbles = stage_bubbles({stage("stage 0")}, {4});
  ASSERT_EQ(bubbles.size(), 1U);
  EXPECT_EQ(bubbles[0].bubble, 30_ms);
  EXPECT_DOUBLE_EQ(bubbles[0].of_step(), 0.3);  // 30 of 100
  EXPECT_DOUBLE_EQ(bubbles[0].of_ideal(), 30.0 / 70.0);
  EXPECT_EQ(bubbles[0].held_at_peak, 4);
}

TEST(PipelineBubble, OfNothingIsNothing) {
  EXPECT_DOUBLE_EQ(StageBubble{}.of_step(), 0.0);
  EXPECT_DOUBLE_EQ(StageBubble{}.of_ideal(), 0.0);
}

TEST(PipelineBubble, EveryStageHasALine) {
  EXPECT_THAT(bubble_lines(stage_bubbles({stage("stage 0"), stage("stage 1")}, {2, 1})),
              testing::ElementsAre("stage 0     30.0 % of the step,  42.9 % of the ideal, 2 microbatches held",
                                   "stage 1     30.0 % of the step,  42.9 % of the ideal, 1 microbatches held"));
}

}  // namespace
}  // namespace ringwright::pipeline_bubble_test
