// What a file states of a thing itself, where --set names a preset of the whole thing: a scenario's own hosts and
// fabric and `--set cluster.preset=NAME`.
#pragma once

#include <span>
#include <string>

#include "core/config/config_document.h"
#include "core/config/config_node.h"

namespace ringwright {

// Removes the maps that the rules call `parts`, where an override names the preset and the file names none; a warning
// for each. A file that names a preset itself changes it on purpose: its parts stay.
void remove_replaced_parts(ConfigNode& root, std::span<const PresetRule> rules, std::span<const std::string> overrides,
                           Diagnostics& problems);

}  // namespace ringwright
