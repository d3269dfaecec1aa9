#include "core/report/report.h"

#include <gtest/gtest.h>

#include "tests/core/report/sample_run.h"

namespace ringwright::report_test {
namespace {

using namespace literals;
using testing::sample_facts;
using testing::sample_run;
using testing::SampleRun;

TEST(Report, StepTimeIsTheMeanOverTheStepsThatCount) {
  SampleRun run = sample_run();
  run.record.iteration_end = {TimePoint(120_ms), TimePoint(220_ms), TimePoint(330_ms)};
  const Report report = summarise(run.inputs(), sample_facts());
  EXPECT_EQ(report.step_time.count, 2);
  EXPECT_EQ(report.step_time.mean, 105_ms);
  EXPECT_EQ(report.step_time.minimum, 100_ms);
  EXPECT_EQ(report.step_time.median, 100_ms);
  EXPECT_EQ(report.step_time.p99, 110_ms);
  EXPECT_EQ(report.step_time.maximum, 110_ms);
}

TEST(Report, WithoutWarmUpTheFirstStepStartsAtZero) {
  StepFacts facts = sample_facts();
  facts.warmup_iterations = 0;
  const Report report = summarise(sample_run().inputs(), facts);
  EXPECT_EQ(report.step_time.count, 3);
  EXPECT_EQ(report.step_time.maximum, 120_ms);
}

TEST(ReportDeathTest, NeedsAStepThatCounts) {
  StepFacts facts = sample_facts();
  facts.warmup_iterations = 3;
  EXPECT_DEATH((void)summarise(sample_run().inputs(), facts), "no iteration is left to count");
}

TEST(Report, UtilisationsAreFlopsOverPeakOfAllGpus) {
  const Report report = summarise(sample_run().inputs(), sample_facts());
  // 4 GPUs x 0.1 s x 1000 TFLOP/s = 400 TFLOP at most.
  EXPECT_NEAR(report.model_flop_utilisation.value(), 160.0 / 400.0, 1e-12);
  EXPECT_NEAR(report.hardware_flop_utilisation.value(), 200.0 / 400.0, 1e-12);
  EXPECT_NEAR(report.model_flop_rate_per_gpu.count(), 400e12, 1.0);
  EXPECT_NEAR(report.tokens_per_second_per_gpu, 8192 / 0.4, 1e-9);
}

TEST(Report, UtilisationIsUnknownWithoutFlops) {
  StepFacts facts = sample_facts();
  facts.model_flops = facts.hardware_flops = Flops();
  const Report report = summarise(sample_run().inputs(), facts);
  EXPECT_FALSE(report.model_flop_utilisation.has_value());
  EXPECT_FALSE(report.hardware_flop_utilisation.has_value());
}

TEST(Report, TheFullestStageIsTheOneThatFillsItsDeviceMost) {
  StepFacts facts = sample_facts();
  // More bytes, but on a larger device.
  facts.memory.push_back({.stage = 2, .items = {}, .total = 100_GiB, .capacity = 192_GiB});
  const Report report = summarise(sample_run().inputs(), facts);
  EXPECT_EQ(report.fullest_memory, 1u);
}

TEST(Report, WithOneProgramThereIsNoSlowestStage) {
  SampleRun run = sample_run();
  EXPECT_TRUE(summarise(run.inputs(), sample_facts()).slowest_stage.has_value());
  run.graph.program_of.assign(4, ProgramId(0));
  EXPECT_FALSE(summarise(run.inputs(), sample_facts()).slowest_stage.has_value());
}

TEST(Report, IsAsGoodAsItsWeakestInput) {
  Report report = summarise(sample_run().inputs(), sample_facts());
  EXPECT_EQ(report.evidence(), Evidence::kVendorSpec);
  report.facts.evidence.pop_back();
  EXPECT_EQ(report.evidence(), Evidence::kCalibrated);
  report.facts.evidence.clear();
  EXPECT_EQ(report.evidence(), Evidence::kAssumed);
}

TEST(Report, PublishedFiguresAreComparedInTheirOwnUnit) {
  StepFacts facts = sample_facts();
  facts.published = {{.quantity = PublishedQuantity::kStepTime, .value = 0.08, .source = "a"},
                     {.quantity = PublishedQuantity::kModelFlopUtilisation, .value = 0.5, .source = "b"},
                     {.quantity = PublishedQuantity::kModelFlopRatePerGpu, .value = 400e12, .source = "c"},
                     {.quantity = PublishedQuantity::kTokensPerSecondPerGpu, .value = 20'480, .source = "d"}};
  const Report report = summarise(sample_run().inputs(), facts);
  ASSERT_EQ(report.comparisons.size(), 4u);
  EXPECT_NEAR(report.comparisons[0].difference(), 0.25, 1e-12);
  EXPECT_NEAR(report.comparisons[1].difference(), -0.2, 1e-12);
  EXPECT_NEAR(report.comparisons[2].difference(), 0.0, 1e-12);
  EXPECT_NEAR(report.comparisons[3].difference(), 0.0, 1e-12);
}

}  // namespace
}  // namespace ringwright::report_test
