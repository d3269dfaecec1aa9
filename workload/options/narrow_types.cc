#include "workload/options/narrow_types.h"

#include <array>
#include <string>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::array kFp8Recipes{
    Option{"none", "GEMMs in the type of `precision`"},
    Option{"delayed", "the layers' GEMMs in fp8, one scale per tensor from the maxima of earlier steps"},
    Option{"tensorwise", "one scale per tensor from its own maximum, found in a separate pass"},
    Option{"rowwise", "one scale per row of each operand, which is therefore cast again for every GEMM (torchao)"},
    Option{"blockwise", "one scale per 128 values, as in DeepSeek-V3"},
    Option{"mxfp8", "one scale per 32 values (Blackwell)"}};
constexpr std::array kFp4Recipes{
    Option{"none", "GEMMs in the type of `precision` and `fp8_recipe`"},
    Option{"nvfp4", "the layers' GEMMs in fp4, one scale per 16 values and one per tensor (Blackwell)"},
    Option{"mxfp4", "the layers' GEMMs in fp4, one scale per 32 values"}};

NarrowRecipe parse_narrow(std::string_view text) {
  if (text == "delayed") return NarrowRecipe::kDelayed;
  if (text == "tensorwise") return NarrowRecipe::kTensorwise;
  if (text == "rowwise") return NarrowRecipe::kRowwise;
  if (text == "blockwise") return NarrowRecipe::kBlockwise;
  if (text == "mxfp8") return NarrowRecipe::kMxfp8;
  if (text == "nvfp4") return NarrowRecipe::kNvfp4;
  return text == "mxfp4" ? NarrowRecipe::kMxfp4 : NarrowRecipe::kNone;
}

// `what`: "weights are cast".
void warn_without_effect(ConfigMap& training, std::string_view key, const TrainingOptions& options,
                         std::string_view what) {
  const std::string why = options.narrow == NarrowRecipe::kNone
                              ? "no GEMM is computed in fp8 or fp4"
                              : fmt::format("with one scale per row {} for every GEMM", what);
  training.warn(key, "W131", fmt::format("{} has no effect: {}", training.path_of(key), why));
}

void read_narrow_parameters(ConfigMap& training, TrainingOptions& options) {
  options.narrow_parameters =
      training.boolean({.name = "fp8_param_gather",
                        .doc = "the matrices of layers are stored only in the type of their fp8 or fp4 GEMMs, and "
                               "gathered in fp8 where tensors have one scale; without: they are cast at the first "
                               "microbatch of a step, and stored in both types",
                        .fallback = false});
  if (!options.narrow_parameters || training.documenting() || options.stores_cast_weights()) return;
  warn_without_effect(training, "fp8_param_gather", options, "weights are cast");
  options.narrow_parameters = false;
}

void read_transpose_cache(ConfigMap& training, TrainingOptions& options) {
  options.drops_transposes =
      training.boolean({.name = "disable_parameter_transpose_cache",
                        .doc = "weights that are stored in fp8 (fp8_param_gather) are stored in one layout, and each "
                               "backward pass transposes them for its GEMMs; without: the transposes are stored as "
                               "well. Blackwell's fp8 GEMMs with one scale per tensor need no transposes",
                        .fallback = false});
  if (!options.drops_transposes || training.documenting() || options.gathers_narrow()) return;
  const std::string why = options.narrow_parameters
                              ? "scales of blocks along one side differ between the layouts, and both are stored"
                              : fmt::format("{} is false", training.path_of("fp8_param_gather"));
  training.warn("disable_parameter_transpose_cache", "W131",
                fmt::format("{} has no effect: {}", training.path_of("disable_parameter_transpose_cache"), why));
  options.drops_transposes = false;
}

}  // namespace

bool takes_either_layout(NarrowRecipe recipe, const GpuSpec& gpu) {
  constexpr double kFirst = 10.0;   // of Blackwell
  constexpr double kBeyond = 12.0;  // its cards for workstations
  const bool one_scale = recipe == NarrowRecipe::kDelayed || recipe == NarrowRecipe::kTensorwise;
  return one_scale && gpu.compute_capability >= kFirst && gpu.compute_capability < kBeyond;
}

void read_narrow_types(ConfigMap& training, TrainingOptions& options) {
  const std::string fp8 = training.choice(
      {.name = "fp8_recipe", .doc = "fp8 recipe of the layers' GEMMs", .fallback = "none"}, kFp8Recipes);
  const std::string fp4 = training.choice(
      {.name = "fp4_recipe", .doc = "fp4 recipe of the layers' GEMMs", .fallback = "none"}, kFp4Recipes);
  if (fp8 != "none" && fp4 != "none") {
    training.error("fp4_recipe", "E141",
                   fmt::format("{} = {} and {} = {} ({}) both set the type of GEMMs", training.path_of("fp4_recipe"),
                               fp4, training.path_of("fp8_recipe"), fp8, training.origin("fp8_recipe")),
                   "remove one of them");
  }
  options.narrow = parse_narrow(fp4 != "none" ? fp4 : fp8);
  options.narrow_gather = training.boolean({.name = "fp8_gather",
                                            .doc = "tensor-parallel ranks cast their part of the sequence to the "
                                                   "GEMMs' type before they gather it",
                                            .fallback = false});
  read_narrow_parameters(training, options);
  read_transpose_cache(training, options);
  if (!options.narrow_gather) return;
  if (options.narrow == NarrowRecipe::kNone || options.narrow == NarrowRecipe::kRowwise) {
    warn_without_effect(training, "fp8_gather", options, "the input is cast again");
    options.narrow_gather = false;
  }
}

}  // namespace ringwright::workload
