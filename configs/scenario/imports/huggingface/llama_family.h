// Decoders with a gated MLP whose config.json has Llama's keys.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] bool is_hf_llama_family(std::string_view type);
void read_hf_llama_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
