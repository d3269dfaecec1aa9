// The copy of a replica's state to those that join, as several policies read it.
#pragma once

#include "core/config/config_map.h"
#include "planning/operation/spread.h"

namespace ringwright::planning {

// `state` over `bandwidth`; nothing where neither is given. A pipelined broadcast takes the time of one copy.
[[nodiscard]] JobTime read_state_copy(ConfigMap& map);

}  // namespace ringwright::planning
