#include "validation/training/training_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::training_setup_test {
namespace {

TEST(TrainingSetup, APrecisionThatIsNotKnownLeavesTheStacks) {
  TrainingRow row;
  row.precision = "posit16";
  YamlText yaml;
  std::vector<std::string> assumed;
  write_precision(row, yaml, assumed);
  EXPECT_THAT(assumed, testing::ElementsAre("the stack's precision: 'posit16' is not known"));
  EXPECT_THAT(yaml.text(), testing::Not(testing::HasSubstr("precision")));
}

TEST(TrainingSetup, ScalesOfTheStepAreNotThoseOfEarlierOnes) {
  TrainingRow row;
  row.precision = "FP8-CS";
  YamlText yaml;
  std::vector<std::string> assumed;
  write_precision(row, yaml, assumed);
  EXPECT_THAT(yaml.text(), testing::HasSubstr("precision: bf16, fp8_recipe: tensorwise"));
  EXPECT_THAT(assumed, testing::IsEmpty());
}

TEST(TrainingSetup, AtLeastOneLayerIsComputedAgain) {
  TrainingRow row;
  row.layers = 8;
  row.recompute = "selective layer 4";
  YamlText whole;
  write_recompute(row, 1, whole);
  EXPECT_THAT(whole.text(), testing::HasSubstr("recompute_num_layers: 2"));
  YamlText parts;
  write_recompute(row, 8, parts);
  EXPECT_THAT(parts.text(), testing::HasSubstr("recompute_num_layers: 1"));
}

}  // namespace
}  // namespace ringwright::validation::training_setup_test
