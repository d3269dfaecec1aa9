#include "core/report/time_breakdown.h"

#include <gtest/gtest.h>

#include "tests/core/report/sample_run.h"

namespace ringwright::time_breakdown_test {
namespace {

using namespace literals;
using testing::sample_run;
using testing::SampleRun;

class TimeBreakdownTest : public ::testing::Test {
 protected:
  [[nodiscard]] BreakdownInputs inputs() const {
    return {.record = run_.record, .graph = run_.graph, .classes = run_.classes, .step_time = 100_ms,
            .counted_iterations = 2};
  }
  SampleRun run_ = sample_run();
};

TEST_F(TimeBreakdownTest, AveragesOverRanksAndStepsThatCount) {
  const TimeBreakdown all = break_down(inputs());
  EXPECT_EQ(all.ranks, 4u);
  // Computing over two steps: 2 ranks x 120 ms + 140 ms + 160 ms = 540 ms; / (4 ranks x 2 steps).
  EXPECT_EQ(all.computing, 67'500_us);
  EXPECT_EQ(all.total, 100_ms);
}

TEST_F(TimeBreakdownTest, CommunicationIsHiddenWhileTheRankComputesAndExposedOtherwise) {
  const TimeBreakdown all = break_down(inputs());
  ASSERT_EQ(all.dimensions.size(), 2u);
  const DimensionTime& tp = all.dimensions[0];
  EXPECT_EQ(tp.name, "tp");
  EXPECT_EQ(tp.exposed, 10_ms);    // 2 ranks x (30 + 10) ms / 8
  EXPECT_EQ(tp.hidden, 5_ms);      // 2 ranks x 20 ms / 8
  EXPECT_EQ(tp.in_flight, 15_ms);  // 2 ranks x 60 ms / 8
}

TEST_F(TimeBreakdownTest, OfSeveralDimensionsInFlightTheInnermostCountsAsExposed) {
  const TimeBreakdown all = break_down(inputs());
  const DimensionTime& pp = all.dimensions[1];
  EXPECT_EQ(pp.exposed, 1_ms);           // 2 ranks x 4 ms / 8; the 10 ms concurrent with tp are tp's
  EXPECT_EQ(pp.in_flight, 3'500_us);     // 2 ranks x 14 ms / 8
  EXPECT_EQ(pp.hidden, 0_ms);
}

TEST_F(TimeBreakdownTest, ComputingExposedAndIdleAddUpToTheStep) {
  const TimeBreakdown all = break_down(inputs());
  Duration sum = all.computing + all.idle;
  double shares = all.share(all.computing) + all.share(all.idle);
  for (const DimensionTime& dimension : all.dimensions) {
    sum += dimension.exposed;
    shares += all.share(dimension.exposed);
  }
  EXPECT_EQ(sum, 100_ms);
  EXPECT_NEAR(shares, 1.0, 1e-12);
}

TEST_F(TimeBreakdownTest, BytesArePerRankAndStepOfAllSteps) {
  const TimeBreakdown all = break_down(inputs());
  EXPECT_EQ(all.dimensions[0].sent, 5_MiB);     // 2 ranks x 30 MiB / (4 ranks x 3 steps)
  EXPECT_EQ(all.dimensions[1].sent, 512_KiB);
}

TEST_F(TimeBreakdownTest, WhatComputingAndCommunicationTakeFromEachOtherIsPerRankAndStep) {
  EXPECT_FALSE(break_down(inputs()).contended);
  run_.record.interference.assign(run_.classes.count(), std::vector<Interference>(run_.record.dimension_count));
  run_.record.interference[0][0] = {.computing_to_sms = 16_ms, .computing_to_memory = 4_ms, .communication = 8_ms};
  const TimeBreakdown all = break_down(inputs());
  EXPECT_TRUE(all.contended);
  // A class of 2 ranks; 4 ranks x 2 steps.
  EXPECT_EQ(all.dimensions[0].compute_lost_to_sms, 4_ms);
  EXPECT_EQ(all.dimensions[0].compute_lost_to_memory, 1_ms);
  EXPECT_EQ(all.dimensions[0].lost_to_compute, 2_ms);
  EXPECT_EQ(all.dimensions[1].lost_to_compute, Duration());
}

TEST_F(TimeBreakdownTest, TheSlowestStageIsTheOneThatComputesLongest) {
  const TimeBreakdown slowest = break_down_slowest(inputs());
  EXPECT_EQ(slowest.of, "stage 1");
  EXPECT_EQ(slowest.ranks, 2u);
  EXPECT_EQ(slowest.computing, 75_ms);  // (140 + 160) ms / (2 ranks x 2 steps)
  EXPECT_EQ(slowest.idle, 25_ms);
  EXPECT_TRUE(slowest.dimensions.empty());
}

TEST_F(TimeBreakdownTest, OfEqualStagesTheFirstIsTheSlowest) {
  run_.record.time_in[1] = run_.record.time_in[0];
  run_.record.time_in[2] = run_.record.time_in[0];
  EXPECT_EQ(break_down_slowest(inputs()).of, "stage 0");
}

TEST_F(TimeBreakdownTest, AProgramThatNoRankRunsIsNeverTheSlowest) {
  run_.graph.program_of = {ProgramId(1), ProgramId(1), ProgramId(1), ProgramId(1)};
  EXPECT_EQ(break_down_slowest(inputs()).of, "stage 1");
}

TEST_F(TimeBreakdownTest, FoldedAndUnfoldedClassesGiveTheSameNumbers) {
  const TimeBreakdown folded = break_down(inputs());
  // The first class again, as two classes of one rank.
  run_.classes = identity_classes(4);
  run_.record.time_in.insert(run_.record.time_in.begin(), run_.record.time_in[0]);
  run_.record.sent.insert(run_.record.sent.begin(), run_.record.sent[0]);
  const TimeBreakdown unfolded = break_down(inputs());
  EXPECT_EQ(unfolded.computing, folded.computing);
  EXPECT_EQ(unfolded.idle, folded.idle);
  EXPECT_EQ(unfolded.dimensions[0].exposed, folded.dimensions[0].exposed);
  EXPECT_EQ(unfolded.dimensions[1].sent, folded.dimensions[1].sent);
}

TEST_F(TimeBreakdownTest, SumsOverAHundredThousandRanksDoNotOverflow) {
  // 2 x 60 s x 131,072 ranks = 1.6e19 ps, beyond 64 bits.
  run_.classes.size = {131'072, 1, 1};
  run_.record.time_in.assign(3, {{.mask = kComputing, .time = 120_s}});
  EXPECT_EQ(break_down(inputs()).computing, 60_s);
}

TEST_F(TimeBreakdownTest, ATimeBeyondTheStepLeavesNoNegativeIdleTime) {
  run_.record.time_in[0].add(kComputing, 300_ms);
  const TimeBreakdown all = break_down(inputs());
  EXPECT_EQ(all.idle, 0_ms);
  EXPECT_NEAR(all.share(all.computing) + all.share(all.dimensions[0].exposed) + all.share(all.dimensions[1].exposed),
              1.0, 1e-12);
}

TEST(TimeBreakdown, OfNothingHasSharesOfZero) {
  EXPECT_DOUBLE_EQ(TimeBreakdown().share(5_ms), 0.0);
}

}  // namespace
}  // namespace ringwright::time_breakdown_test
