// Hybrid models of Mamba-2 and attention in config.json: nemotron_h.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

void read_hf_nemotron_h(ConfigMap& config, workload::ModelShape& shape);

}  // namespace ringwright::configs
