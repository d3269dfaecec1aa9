// A tree as YAML text: one key of the top on a line, what is below it in flow style.
#pragma once

#include <string>

#include "core/config/config_node.h"

namespace ringwright {

// Without what presets supplied, since the keys that name them stay. `main`: the file whose evidence and source the
// text as a whole carries; values of other files carry their own where it differs. May be null.
[[nodiscard]] std::string write_yaml(const ConfigNode& root, const ConfigSource* main);

}  // namespace ringwright
