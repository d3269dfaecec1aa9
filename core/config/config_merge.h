// Lays one tree over another: maps merge key by key, everything else is replaced.
#pragma once

#include "core/config/config_node.h"

namespace ringwright {

// Keys of the base come first, in its order; positions are those of `over` where both have a key. A value in its long
// form ({value: 5us, source: ...}) is replaced whole, or a new number would keep the old number's source.
[[nodiscard]] ConfigNode merged(ConfigNode base, ConfigNode over);

}  // namespace ringwright
