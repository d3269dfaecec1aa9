// Merges one tree over another: maps merge key by key, everything else is replaced. Also removes keys and read marks.
#pragma once

#include <span>
#include <string_view>

#include "core/config/config_node.h"

namespace ringwright {

// Keys of the base come first, in its order; positions are those of `over` where both have a key. A value in its long
// form ({value: 5us, source: ...}) is replaced whole, otherwise a new number would keep the old number's source.
[[nodiscard]] ConfigNode merged(ConfigNode base, ConfigNode over);
void merge(ConfigNode& base, ConfigNode over);  // the same, into the base

// The same of an override, which is maps that hold nothing but the value at a dotted path, without building them. The
// root remains where its file says.
void merge_at(ConfigNode& root, std::string_view path, ConfigNode value);

// Removes the value at a dotted path, if there is one.
void remove_key(ConfigNode& root, std::string_view path);

// A copy whose values nobody has read yet; known keys stay known. Of the maps at the keys `outlined` only the keys are
// copied, and where they are.
[[nodiscard]] ConfigNode without_readers(const ConfigNode& node, std::span<const std::string_view> outlined = {});

}  // namespace ringwright
