#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::panels_test {
namespace {

using namespace samples;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

const ReportSection& run() {
  static const ReportSection section = section_from(kRunResult);
  return section;
}

TEST(RunHeader, HasTheKeyFiguresWithTheirUnits) {
  EXPECT_THAT(run().figures, Contains(Field(&KeyFigure::value, "100 ms")));
  EXPECT_THAT(run().figures, Contains(Field(&KeyFigure::value, "40.0 %")));
  EXPECT_THAT(run().figures, Contains(Field(&KeyFigure::remark, "400 TFLOP/s per GPU")));
  EXPECT_EQ(run().subtitle,
            "tiny, 1 billion parameters | 8 GPUs = TP 4 x PP 2 x DP 1 | 4 microbatches | 4,096 tokens per step");
}

TEST(RunHeader, SaysInWordsWhereTheStepGoes) {
  EXPECT_THAT(run().sentences,
              Contains("A GPU computes 60.0 % of the step. The largest loss is TP communication: 20 ms (20.0 %)."));
  EXPECT_THAT(run().sentences,
              Contains(HasSubstr("Stage 1 computes longest, 70 ms; stage 0 waits most for the others, 30 ms")));
  EXPECT_THAT(run().sentences,
              Contains(HasSubstr(
                  "The predicted step time is 25.0 % above the one that was measured on the real system (a paper)")));
}

// 44 GiB of 40.
TEST(RunHeader, SaysThatAJobDoesNotFit) {
  EXPECT_THAT(run().sentences, Contains("The job does not fit: stage 1 needs 44 GiB and its GPUs have 40 GiB."));
}

TEST(RunHeader, HasCommandEvidenceAndFingerprint) {
  EXPECT_THAT(run().command, ElementsAre("ringwright", "run", "two.yaml"));
  ASSERT_EQ(run().badges.size(), 1U);
  EXPECT_EQ(run().badges[0].level, "vendor-spec");
  EXPECT_EQ(run().fingerprint, "configuration abc, seed 7, ringwright 0.1.0");
}

TEST(StepWaterfall, AddsUpToTheStep) {
  const Panel panel = panel_of(run(), "step-waterfall");
  EXPECT_EQ(panel.columns[1].unit, "ms");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("computing", "TP communication", "waiting for other ranks"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(60, 1e-9), DoubleNear(20, 1e-9), DoubleNear(20, 1e-9)));
}

// 35 ms in flight: 20 exposed, 10 hidden, the rest behind another dimension.
TEST(ExposedCommunication, DividesTheTimeInFlight) {
  const Panel panel = panel_of(run(), "exposed-communication");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(20, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(10, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(DoubleNear(5, 1e-9)));
}

TEST(MemoryStack, HasEveryItemOfAnyStage) {
  const Panel panel = panel_of(run(), "memory");
  ASSERT_EQ(panel.columns.size(), 3U);
  EXPECT_EQ(panel.columns[2].name, "logits");
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(0.0, 14.0));
  ASSERT_EQ(panel.marks.size(), 1U);
  EXPECT_EQ(panel.marks[0].value, 40.0);
}

TEST(HostMemory, HasAPanelForMemoryAndForDrives) {
  std::string text(kRunResult);
  text.insert(text.rfind('}'), R"(, "hosts": [
      {"what": "memory", "host": 3, "items_bytes": {"optimizer": 2147483648}, "total_bytes": 2147483648, "capacity_bytes": null},
      {"what": "drives", "host": 3, "items_bytes": {}, "total_bytes": 0, "capacity_bytes": 1099511627776}])");
  const ReportSection section = section_from(text);
  EXPECT_THAT(numbers_of(panel_of(section, "host-memory"), 1), ElementsAre(2.0));
  EXPECT_TRUE(panel_of(section, "host-memory").marks.empty());  // no capacity is given
  EXPECT_EQ(panel_of(section, "host-drives").title, "Offloaded to the drives of a host");
}

TEST(KernelFamilies, AreDividedByWhatLimitsThem) {
  const Panel panel = panel_of(run(), "kernel-families");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("gemm", "norm"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(50, 1e-9), 0.0));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(0.0, DoubleNear(10, 1e-9)));
}

// 5e12 FLOP in 6.25 ms are 800 TFLOP/s, at 5000 FLOP/B.
TEST(KernelRoofline, HasIntensityAndRate) {
  const Panel panel = panel_of(run(), "roofline");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(5000, 1e-6), DoubleNear(0.5, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(800, 1e-6), DoubleNear(0.8, 1e-9)));
  ASSERT_EQ(panel.marks.size(), 2U);
  EXPECT_EQ(panel.marks[0].value, 3.0);     // TB/s: TFLOP/s for each FLOP/B
  EXPECT_EQ(panel.marks[1].value, 1000.0);  // TFLOP/s
}

TEST(LinkTiers, CountLinksByTheirUse) {
  const Panel panel = panel_of(run(), "link-tiers");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("0 to 1 %", "1 to 2 %", "2 to 5 %", "5 to 10 %"));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(0, 8, 8, 0));
}

TEST(SearchFront, HoldsLayoutsThatNoOtherBeats) {
  const Panel panel = panel_of(section_from(kSearchResult), "search-front");
  EXPECT_THAT(texts_of(panel, 0),
              ElementsAre("no other is faster and smaller", "by formulas", "no other is faster and smaller"));
  EXPECT_THAT(texts_of(panel, 4), ElementsAre("tp 4", "tp 8", "tp 8"));  // pp has one value
}

// 3 predicted, 1 too large, 1 refused.
TEST(SearchRefusals, CountEveryCombination) {
  EXPECT_THAT(numbers_of(panel_of(section_from(kSearchResult), "search-refusals"), 1), ElementsAre(3, 1, 1));
}

// 2 GB in 10 ms are 200 GB/s; an all-reduce of 4 ranks carries 2 x 3 / 4 of it over the slowest link.
TEST(MeasuredBandwidth, IsThatOfTheBus) {
  const ReportSection section = section_from(
      R"({"schema": "ringwright.validate.nccl/1", "logs": [{"log": "a.log", "operation": "all_reduce", "ranks": 4, "rows": [
          {"size": 2000000000, "measured_us": 10000, "simulated_us": 20000}]}]})");
  const Panel panel = panel_of(section, "bandwidth-1");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("simulated", "measured"));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(150, 1e-9), DoubleNear(300, 1e-9)));
  EXPECT_THAT(panel.drawn_as_points, ElementsAre("measured"));
}

// +100 % and -50 %: 75 % in the mean, +25 % with sign. The row that was not simulated does not count.
TEST(ValidationErrors, AreThoseOfTheRows) {
  const ReportSection section = section_from(
      R"({"schema": "ringwright.validation.training/1", "rows": [
          {"id": "1", "source": "a", "measured_s": 1, "predicted_s": 2}, {"id": "2", "source": "b", "measured_s": 4, "predicted_s": 2},
          {"id": "3", "source": "b", "not_simulated": "no GPU"}]})");
  const Panel panel = panel_of(section, "validation-errors");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("a", "b", "all"));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(100, 1e-9), DoubleNear(50, 1e-9), DoubleNear(75, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(DoubleNear(100, 1e-9), DoubleNear(-50, 1e-9), DoubleNear(25, 1e-9)));
}

}  // namespace
}  // namespace ringwright::planning::panels_test
