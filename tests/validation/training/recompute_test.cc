#include "validation/training/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::recompute_test {
namespace {

using ::testing::HasSubstr;

std::string text_of(std::int64_t layers, std::int64_t parts, const Recomputation& recomputation) {
  TrainingRow row;
  row.layers = layers;
  YamlText yaml;
  write_recompute(row, recomputation, parts, yaml);
  return yaml.text();
}

TEST(Recompute, AtLeastOneLayerIsComputedAgain) {
  EXPECT_THAT(text_of(8, 1, {.layer_period = 4}), HasSubstr("recompute_num_layers: 2"));
  EXPECT_THAT(text_of(8, 8, {.layer_period = 4}), HasSubstr("recompute_num_layers: 1"));
}

TEST(Recompute, ModulesAreSelective) {
  EXPECT_THAT(text_of(8, 1, {.modules = {"layernorm", "moe_act"}}),
              HasSubstr("recompute: selective, recompute_modules: [layernorm, moe_act]"));
}

TEST(Recompute, NothingStatedSetsNothing) {
  EXPECT_EQ(text_of(8, 1, {}), "");
}

}  // namespace
}  // namespace ringwright::validation::recompute_test
