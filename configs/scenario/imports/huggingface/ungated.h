// Decoders whose MLP has no gate, with names of keys of their own: OPT, BLOOM, MPT, StarCoder 2, Nemotron-4.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

[[nodiscard]] bool is_hf_ungated_family(std::string_view type);
void read_hf_ungated_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
