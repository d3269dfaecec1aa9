// Decoders with experts that do not use DeepSeek's or Qwen's keys: Mixtral, MiniMax, Granite, Llama 4, ERNIE 4.5, DBRX.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] bool has_hf_local_experts(std::string_view type);
void read_hf_local_experts(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
