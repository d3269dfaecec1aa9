// The YAML of a recipe of NeMo 2, as NeMo-Run writes it: objects of Megatron-Core's classes below model, data, trainer
// and optim.
#pragma once

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

[[nodiscard]] bool is_recipe_file(const ConfigNode& root);
[[nodiscard]] MegatronText read_recipe_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems);

}  // namespace ringwright::configs
