// config.json of models whose attention and MLP are parallel: gptj, gpt_neox, falcon, phi, cohere.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] bool is_hf_parallel_family(std::string_view type);
void read_hf_parallel_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
