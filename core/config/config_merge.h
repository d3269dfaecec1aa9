// Lays one tree over another: maps merge key by key, everything else is replaced. A tree without a key, or unread.
#pragma once

#include <string_view>

#include "core/config/config_node.h"

namespace ringwright {

// Keys of the base come first, in its order; positions are those of `over` where both have a key. A value in its long
// form ({value: 5us, source: ...}) is replaced whole, or a new number would keep the old number's source.
[[nodiscard]] ConfigNode merged(ConfigNode base, ConfigNode over);

// Takes away what stands at a dotted path; nothing where there is nothing.
void remove_key(ConfigNode& root, std::string_view path);

// As if its values had not been read yet; which keys somebody knows stays known.
void forget_readers(ConfigNode& node);

}  // namespace ringwright
