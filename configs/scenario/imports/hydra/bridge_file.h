// The YAML of a run of Megatron-Bridge: its ConfigContainer, whole as the run logs it, or some of it as overrides.
#pragma once

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

[[nodiscard]] MegatronText read_bridge_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems);

}  // namespace ringwright::configs
