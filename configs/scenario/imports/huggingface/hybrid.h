// Hybrid models of Mamba-2 and attention in config.json: nemotron_h, granitemoehybrid.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

void read_hf_nemotron_h(ConfigMap& config, workload::ModelShape& shape);
// Granite 4: each of the file's layers is two of the model, a mixer and an MLP or experts.
void read_hf_granite_hybrid(ConfigMap& config, workload::ModelShape& shape);

}  // namespace ringwright::configs
