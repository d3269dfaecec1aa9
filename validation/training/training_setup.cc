#include "validation/training/training_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include "validation/training/training_words.h"

namespace ringwright::validation {
namespace {

void write_modules(const TrainingRow& row, YamlText& yaml) {
  yaml.set("training.recompute", "selective");
  const std::vector<std::string> modules = read_recomputed_modules(row.recompute);
  if (!modules.empty()) yaml.set("training.recompute_modules", fmt::format("[{}]", fmt::join(modules, ", ")));
}

// Every n-th layer, as many as in the first layers of a chunk.
void write_some_layers(const TrainingRow& row, std::int64_t parts, YamlText& yaml) {
  const std::int64_t layers = row.layers.value_or(1) / parts / read_layer_period(row.recompute);
  yaml.set("training.recompute", "full");
  yaml.set("training.recompute_method", "block");
  yaml.set("training.recompute_num_layers", fmt::format("{}", std::max<std::int64_t>(1, layers)));
}

}  // namespace

// GEMMs in fp8 or fp4 leave weights and activations as they are; a stack sets its recipe where a row does not. The
// only format of fp4 that runs of whole models have used is NVFP4.
void write_precision(const TrainingRow& row, YamlText& yaml, std::vector<std::string>& assumed) {
  const std::string precision = read_precision(row.precision);
  if (precision.empty() && !row.precision.empty()) {
    assumed.push_back(fmt::format("the stack's precision: '{}' is not known", row.precision));
  }
  if (precision.empty()) return;
  const bool narrow = precision == "fp8" || precision == "fp4";
  yaml.set("training.precision", narrow ? "bf16" : precision);
  if (precision == "fp4") return yaml.set("training.fp4_recipe", says(row.precision, "mxfp4") ? "mxfp4" : "nvfp4");
  const std::string recipe = read_fp8_recipe(row.precision);
  if (!recipe.empty()) yaml.set("training.fp8_recipe", recipe);
  if (precision == "fp8" && recipe.empty()) yaml.set("training.fp8_recipe", "delayed");
}

void write_recompute(const TrainingRow& row, std::int64_t parts, YamlText& yaml) {
  switch (read_recompute(row.recompute)) {
    case RecomputeWords::kUnsaid: return;
    case RecomputeWords::kNone: return yaml.set("training.recompute", "none");
    case RecomputeWords::kSelective: return write_modules(row, yaml);
    case RecomputeWords::kSelectiveOps: return yaml.set("training.recompute", "selective-ops");
    case RecomputeWords::kSelectiveLayers: return write_some_layers(row, parts, yaml);
    case RecomputeWords::kFull: return yaml.set("training.recompute", "full");
  }
}

}  // namespace ringwright::validation
