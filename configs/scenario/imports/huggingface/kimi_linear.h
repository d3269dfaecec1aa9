// Decoders of Kimi Delta Attention and latent attention in config.json: kimi_linear.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

void read_hf_kimi_linear(ConfigMap& config, workload::ModelShape& shape);

}  // namespace ringwright::configs
