#include "validation/training/shipped_models.h"

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/config/config_document.h"

namespace ringwright::validation {

void take_shipped_model(TrainingRow& row) {
  if (row.layers || row.hidden) return;
  const LoadOptions options = configs::load_options({});
  const std::string path = configs::shipped_path(options, "models", row.model);
  if (path.empty()) return;
  auto model = ConfigDocument::load(path, options);
  if (!model) return;
  ConfigMap root = model->root();
  row.layers = root.integer({.name = "num_layers", .doc = "transformer layers", .min = 1});
  row.is_shipped_model = true;
}

}  // namespace ringwright::validation
