// The file of a run: a script for Megatron-LM, the arguments that a log prints, or a functional test; or the YAML of
// Megatron-Bridge or NeMo. As values of a scenario.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

// Fills source.lines. Every value has the position of its flag or key. Empty after an error.
[[nodiscard]] std::optional<ConfigNode> import_run(std::string_view text, ConfigSource& source, Diagnostics& problems);

}  // namespace ringwright::configs
