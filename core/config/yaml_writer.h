// A tree as YAML text: one top-level key per line, its content in flow style.
#pragma once

#include <string>

#include "core/config/config_node.h"

namespace ringwright {

// Omits values that presets supplied, since the keys that name them stay. `main`: the file whose evidence and source
// hold for the whole text; values of other files state their own where it differs. May be null.
[[nodiscard]] std::string write_yaml(const ConfigNode& root, const ConfigSource* main);

// One value in flow form, as --set takes it.
[[nodiscard]] std::string write_value(const ConfigNode& node);

}  // namespace ringwright
