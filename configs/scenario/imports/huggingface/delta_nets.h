// Decoders of Gated DeltaNet and attention with an output gate in config.json: qwen3_next, qwen3_5, qwen3_5_moe.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] bool is_hf_delta_net_family(std::string_view type);
void read_hf_delta_net_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
