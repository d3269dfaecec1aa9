// A run's YAML of Megatron-Bridge or NeMo as flags of Megatron-LM.
#pragma once

#include <optional>
#include <string_view>

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

// By its sections: `model:`, `train:`, `trainer:` at the beginning of a line.
[[nodiscard]] bool is_hydra_file(std::string_view text);
// Fills source.lines. Empty after an error.
[[nodiscard]] std::optional<MegatronText> read_hydra_file(std::string_view text, ConfigSource& source,
                                                          Diagnostics& problems);

}  // namespace ringwright::configs
