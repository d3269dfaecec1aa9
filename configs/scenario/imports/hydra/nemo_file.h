// The YAML of a run of NeMo: trainer, model and optim, as its examples and launcher and MLPerf's submissions have them.
#pragma once

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

[[nodiscard]] MegatronText read_nemo_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems);

}  // namespace ringwright::configs
