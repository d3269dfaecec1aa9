// Rules of Megatron-Bridge's training/mixed_precision.py.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::bridge_precision_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using Keys = std::map<std::string, std::string>;

ImportedRun run_of(const std::string& sections) {
  return ImportedRun("model:\n  num_layers: 8\n  hidden_size: 256\n  fp8_recipe: delayed\n" + sections);
}

TEST(BridgePrecision, ARecipeHasAName) {
  const ImportedRun plain = run_of("mixed_precision: bf16_mixed\n");
  EXPECT_THAT(plain.messages(), IsEmpty());
  EXPECT_EQ(plain.keys.at("training.precision"), "bf16");
  EXPECT_THAT(plain.all(), Not(Contains(Pair("training.grad_reduce_dtype", testing::_))));  // fp32 by the recipe
  const ImportedRun narrow = run_of("mixed_precision: bf16-with-mxfp8-mixed\n");
  EXPECT_THAT(narrow.messages(), IsEmpty());
  EXPECT_THAT(narrow.keys, IsSupersetOf(Keys{{"training.precision", "bf16"},
                                             {"training.fp8_recipe", "mxfp8"},
                                             {"training.fp8_param_gather", "true"}}));
  EXPECT_EQ(run_of("mixed_precision: bf16_with_nvfp4_mixed\n").keys.at("training.fp4_recipe"), "nvfp4");
  EXPECT_THAT(run_of("mixed_precision: bf16_with_fp8_current_scaling_mixed\n").messages(),
              ElementsAre("5:1 W136: mixed_precision is not modelled: all layers have one precision"));
  EXPECT_THAT(run_of("mixed_precision: bf16_with_mxfp8_mix\n").messages(),
              ElementsAre("5:18 E144: mixed_precision is 'bf16_with_mxfp8_mix', which is no recipe | did you mean "
                          "bf16_with_mxfp8_mixed?"));
}

TEST(BridgePrecision, AConfigurationReplacesTheKeysOfTheOtherSections) {
  const ImportedRun run = run_of(
      "mixed_precision:\n  bf16: true\n  fp8: hybrid\n  fp8_recipe: blockwise\n  grad_reduce_in_fp32: false\n"
      "ddp: {grad_reduce_in_fp32: true}\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"training.precision", "bf16"},
                                          {"training.fp8_recipe", "blockwise"},
                                          {"training.grad_reduce_dtype", "bf16"}}));
  EXPECT_EQ(run.origins.at("training.fp8_recipe"), "run.yaml:8");
  const ImportedRun off = run_of("mixed_precision:\n  bf16: true\n  fp8: null\n  fp8_recipe: tensorwise\n");
  EXPECT_THAT(off.all(), Not(Contains(Pair("training.fp8_recipe", testing::_))));
}

TEST(BridgePrecision, WithoutAConfigurationTheModelsKeysCount) {
  const ImportedRun run = run_of("ddp: {grad_reduce_in_fp32: true}\n");
  EXPECT_EQ(run.assumed.at("training.precision"), "fp32");
  const ImportedRun narrow = ImportedRun(
      "model:\n  hidden_size: 256\n  bf16: true\n  fp8: hybrid\n  fp8_dot_product_attention: true\n"
      "  fp8_param: true\nddp: {grad_reduce_in_fp32: true}\n");
  EXPECT_THAT(narrow.messages(), IsEmpty());
  EXPECT_THAT(narrow.keys, IsSupersetOf(Keys{{"training.fp8_recipe", "delayed"},
                                             {"training.fp8_dot_product_attention", "true"},
                                             {"training.fp8_param_gather", "true"}}));
  EXPECT_FALSE(narrow.all().contains("training.grad_reduce_dtype"));
}

// Without an optimizer that knows types, main gradients are fp32 and their type has no effect.
TEST(BridgePrecision, MainGradientsHaveTheTypeInWhichTheyAreReduced) {
  const std::string bf16 = "mixed_precision: {bf16: true, grad_reduce_in_fp32: false}\n";
  const std::string main = "main_grads_dtype: {_target_: torch.float32, _call_: false}";
  EXPECT_THAT(run_of(bf16 + "optimizer: {" + main + "}\n").messages(), IsEmpty());
  EXPECT_THAT(
      run_of(bf16 + "optimizer: {use_precision_aware_optimizer: true, " + main + "}\n").messages(),
      ElementsAre("6:50 W136: optimizer.main_grads_dtype is not modelled: gradients have the type in which they "
                  "are reduced"));
}

}  // namespace
}  // namespace ringwright::configs::bridge_precision_test
