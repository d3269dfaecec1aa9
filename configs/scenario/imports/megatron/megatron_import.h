// A Megatron-LM run as keys of a scenario: model, training, parallel and what it states about the cluster.
#pragma once

#include <optional>
#include <string_view>

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

// Every value has the position of its flag; Megatron's defaults for absent flags are included, from a source named
// "Megatron's default". Unknown flags, and those whose effect is not modelled, are warnings.
[[nodiscard]] std::optional<ConfigNode> import_megatron(std::string_view text, ConfigSource& source,
                                                        Diagnostics& problems);

// The same of flags that were read already. Empty where there is none.
[[nodiscard]] std::optional<ConfigNode> import_flags(MegatronText words, const ConfigSource& source,
                                                     Diagnostics& problems);

}  // namespace ringwright::configs
