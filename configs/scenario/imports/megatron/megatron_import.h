// A Megatron-LM run as keys of a scenario: model, training, parallel and what it says about the cluster.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

// Every value stands where its flag stands; what Megatron does when a flag is absent is there, too, from a source named
// "Megatron's default". Unknown flags, and those whose effect is left out, are warnings.
[[nodiscard]] std::optional<ConfigNode> import_megatron(std::string_view text, ConfigSource& source,
                                                        Diagnostics& problems);

}  // namespace ringwright::configs
