#include "validation/training/recompute.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::validation {

void write_recompute(const TrainingRow& row, const Recomputation& recomputation, std::int64_t parts, YamlText& yaml) {
  for (const Setting& setting : recomputation.set) yaml.set(setting.path, setting.value);
  if (!recomputation.modules.empty()) {
    yaml.set("training.recompute", "selective");
    yaml.set("training.recompute_modules", fmt::format("[{}]", fmt::join(recomputation.modules, ", ")));
  }
  if (recomputation.layer_period == 0) return;
  // Every n-th layer: as many as in the first layers of a chunk.
  const std::int64_t layers = row.layers.value_or(1) / parts / recomputation.layer_period;
  yaml.set("training.recompute", "full");
  yaml.set("training.recompute_method", "block");
  yaml.set("training.recompute_num_layers", fmt::format("{}", std::max<std::int64_t>(1, layers)));
}

}  // namespace ringwright::validation
