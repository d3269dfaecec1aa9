#include "configs/simulation/step_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/configs/played.h"

namespace ringwright::configs::step_facts_test {
namespace {

DataType counted(const char* training) {
  const Scenario scenario = load(fmt::format(
      "{}training: {{global_batch: 16, {}}}\nparallel: {{dp: auto}}\n"
      "cluster: {{nodes: 1, node: {{preset: dgx-h100}}, fabric: {{type: single_node}}}}\n",
      kTinyModel, training));
  return precision_of(scenario.job);
}

TEST(StepFacts, CountThePeakOfThePrecision) {
  EXPECT_EQ(counted("precision: bf16"), DataType::kBf16);
  EXPECT_EQ(counted("precision: fp16"), DataType::kFp16);
  EXPECT_EQ(counted("precision: fp32"), DataType::kFp32);
}

// With fp32's peak their MFU would be above 100 %.
TEST(StepFacts, CountThePeakOf16BitsForNarrowGemms) {
  EXPECT_EQ(counted("precision: fp32, fp8_recipe: delayed"), DataType::kBf16);
  EXPECT_EQ(counted("precision: bf16, fp8_recipe: delayed"), DataType::kBf16);
}

}  // namespace
}  // namespace ringwright::configs::step_facts_test
