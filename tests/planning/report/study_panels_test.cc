#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::study_panels_test {
namespace {

using namespace samples;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

const ReportSection& sweep() {
  static const ReportSection section = section_from(kSweepResult);
  return section;
}

// The best by MFU is point 2; `fixed` has one value.
TEST(SweepHeader, NamesTheBestPointByItsObjective) {
  ASSERT_GE(sweep().figures.size(), 2U);
  EXPECT_EQ(sweep().figures[0].name, "Best MFU");
  EXPECT_EQ(sweep().figures[0].remark, "size 9, speed 400Gbps");
  EXPECT_EQ(sweep().figures[1].remark, "-60.0 % against the best");
  EXPECT_THAT(sweep().sentences, ElementsAre("1 points do not fit into memory, 0 are refused, 0 cannot finish, 1 do "
                                             "not meet the conditions."));
}

// 9 before 10, though 10 comes first; 400 beats 200 with both sizes.
TEST(SweepEffects, HasTheBestPointOfEachValueInTheOrderOfNumbers) {
  const Panel sizes = panel_of(sweep(), "effect-1"), speeds = panel_of(sweep(), "effect-2");
  EXPECT_THAT(texts_of(sizes, 0), ElementsAre("9", "10"));
  EXPECT_THAT(numbers_of(sizes, 1), ElementsAre(DoubleNear(50, 1e-9), DoubleNear(40, 1e-9)));
  EXPECT_THAT(numbers_of(sizes, 2), ElementsAre(1, 2));
  EXPECT_THAT(texts_of(speeds, 0), ElementsAre("200Gbps", "400Gbps"));
  EXPECT_THAT(texts_of(speeds, 3), ElementsAre("size 10, speed 200Gbps", "size 9, speed 400Gbps"));
}

TEST(SweepTable, HasPossiblePointsByRankAndTheReasonOfOthers) {
  const Panel table = panel_of(sweep(), "points");
  EXPECT_THAT(numbers_of(table, 0), ElementsAre(1, 2, 3, IsNan()));
  EXPECT_THAT(numbers_of(table, 1), ElementsAre(9, 10, 10, 9));
  EXPECT_EQ(table.columns[2].unit, "Gbps");
  EXPECT_EQ(std::get<std::vector<std::string>>(table.columns.back().cells).back(), "too much");
}

// 4 s with 2 GiB is beaten by 2 s with 1 GiB.
TEST(SweepFront, MarksThePointsThatNoOtherOneBeats) {
  const std::string on = "no other is faster and smaller";
  EXPECT_THAT(texts_of(panel_of(sweep(), "front"), 0), ElementsAre(on, on, "simulated"));
}

TEST(SweepAxes, ShowsChoicesAsCategoriesAndTheObjectiveAsColour) {
  const Panel axes = panel_of(sweep(), "axes");
  EXPECT_EQ(axes.columns[0].name, "MFU");
  EXPECT_THAT(texts_of(axes, 1), ElementsAre("9", "10", "10"));
}

// -0.2, +0.2 and -0.1 s lead from 1.0 to 0.9 s; causes that do not change are left out.
TEST(CompareChanges, LeadsFromOneStepToTheOther) {
  const Panel panel = panel_of(section_from(kComparison), "changes-1");
  EXPECT_EQ(panel.chart, Chart::kChanges);
  EXPECT_EQ(panel.columns[1].unit, "ms");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("a.yaml", "gemm", "DP communication", "TP communication", "b.yaml"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(1000.0, DoubleNear(-200, 1e-9), DoubleNear(200, 1e-9),
                                                DoubleNear(-100, 1e-9), DoubleNear(900, 1e-9)));
}

TEST(CompareHeader, SaysWhatMakesTheDifference) {
  const ReportSection section = section_from(kComparison);
  EXPECT_THAT(section.sentences,
              ElementsAre("b.yaml takes 100 ms less than a.yaml (-10.0 %); the largest change is gemm: -200 ms."));
  EXPECT_THAT(texts_of(panel_of(section, "values-1"), 0), ElementsAre("parallel.tp"));
}

TEST(CompareParts, StacksTheCausesOfAllSides) {
  const Panel panel = panel_of(section_from(kComparison), "parts");
  ASSERT_EQ(panel.columns.size(), 4U);
  EXPECT_EQ(panel.columns[3].name, "DP communication");
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(0.0, DoubleNear(200, 1e-9)));
}

TEST(WhatIfChanges, ShowWhatIsPossibleAndWhyTheRestIsNot) {
  const ReportSection section = section_from(kWhatIfResult);
  const Panel panel = panel_of(section, "what-if-changes");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(50, 1e-9), IsNan()));
  EXPECT_THAT(texts_of(panel, 8), ElementsAre("", "too_large: no room"));
  EXPECT_THAT(texts_of(panel, 9), ElementsAre("the price is another GPU's; b has no effect", ""));
  EXPECT_THAT(panel.note, HasSubstr("impossible"));
  // What is too large saves nothing.
  EXPECT_THAT(section.sentences, ElementsAre("'slower' costs most: +50.0 % of the step time."));
}

TEST(WhatIfParts, AddChangesToTheBase) {
  const Panel panel = panel_of(section_from(kWhatIfResult), "what-if-parts");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("as it is", "slower"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(1000, 1e-9), DoubleNear(1300, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(0.0, DoubleNear(200, 1e-9)));
}

TEST(SensitivityTornado, HasBothSidesInPercentOfTheStep) {
  const ReportSection section = section_from(kSensitivityResult);
  const Panel panel = panel_of(section, "tornado");
  EXPECT_EQ(panel.chart, Chart::kTornado);
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(9, 1e-9), DoubleNear(5, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(-7, 1e-9), IsNan()));
  EXPECT_THAT(
      section.sentences,
      ElementsAre("The step time depends most on gpu.peak: its elasticity is -0.80.",
                  "Of the values that are assumed, gpu.speed matters most (98%, elasticity -0.50): measure it first."));
}

TEST(SearchChoices, CompareTheQuickestOfEachChoice) {
  const Panel panel = panel_of(section_from(kSearchResult), "search-choices");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("tp 4", "tp 8", "tp 16"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(0, 1e-9), DoubleNear(20, 1e-9), IsNan()));
  EXPECT_THAT(panel.sentence, HasSubstr("faster than the 800 ms"));
}

TEST(StudyPanels, AreNotThereWithoutParameters) {
  EXPECT_THAT(
      section_from(R"({"schema": "ringwright.sensitivity/1", "scenario": "s", "step_ps": 1, "parameters": []})").panels,
      IsEmpty());
}

}  // namespace
}  // namespace ringwright::planning::study_panels_test
