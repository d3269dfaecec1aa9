// A word or a number that a YAML parser takes as it stands, or an empty map: the value of most overrides. A search sets
// ten of them for each layout.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/config/config_node.h"

namespace ringwright {

// Letters, digits, and between them "-", "." and "_"; not null. Or "{}".
[[nodiscard]] bool is_plain_word(std::string_view text);
// As the parser reads it at this byte of the source's first line.
[[nodiscard]] ConfigNode plain_word(std::string_view text, std::size_t offset, const ConfigSource& source);

}  // namespace ringwright
