// Reads YAML, or JSON as its subset, into a tree; whatever YAML leaves ambiguous is an error here.
//
// Refused: duplicate keys, merge keys, tags, keys that are not words, several documents, empty files, text that is not
// UTF-8, and input that could exhaust the machine (size, depth, aliases that expand to more than kMaxNodes nodes). In a
// file named *.json, `null` means that the key is not given, and pairs of \u surrogates are one character.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright {

inline constexpr std::size_t kMaxConfigBytes = 8U << 20U;
inline constexpr std::size_t kMaxConfigNodes = 400'000;
inline constexpr std::size_t kMaxConfigDepth = 64;

// Fills `source.lines`. Empty after a mistake that leaves no tree; duplicate and merge keys are recorded and dropped.
// A file holds a map; the value of a --set may be anything, and starts `offset` characters into source.lines[0], which
// is then already set.
[[nodiscard]] std::optional<ConfigNode> read_yaml(std::string_view text, ConfigSource& source, Diagnostics& problems);

[[nodiscard]] std::optional<ConfigNode> read_override_value(std::string_view text, std::size_t offset,
                                                            ConfigSource& source, Diagnostics& problems);

}  // namespace ringwright
