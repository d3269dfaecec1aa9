#include "workload/model/predictor_config.h"

#include <fmt/format.h>

namespace ringwright::workload {

void read_predictors(ConfigMap& model, ModelShape& shape) {
  shape.predictors = model.integer({.name = "mtp_num_layers",
                                    .doc = "layers of multi-token prediction (DeepSeek-V3)",
                                    .fallback = 0,
                                    .min = 0,
                                    .max = 1'000});
  constexpr std::string_view kKey = "mtp_use_repeated_layer";
  shape.repeated_predictor =
      model.boolean({.name = kKey, .doc = "the layers of multi-token prediction are one, repeated", .fallback = false});
  if (!shape.repeated_predictor || shape.predictors > 1 || model.documenting()) return;
  model.warn(kKey, "W131",
             fmt::format("{} has no effect: mtp_num_layers is {}", model.path_of(kKey), shape.predictors));
  shape.repeated_predictor = false;
}

}  // namespace ringwright::workload
