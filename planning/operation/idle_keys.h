// Keys of a goodput file that are given and without effect there (W131). Those of a shipped file are passed over: they
// are for the components that a user adds.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "planning/operation/operation.h"

namespace ringwright::planning {

// Once spare hosts, detection and the length are known.
void warn_of_idle_keys(const Operation& operation, ConfigMap root);
// Settings of a recovery policy that is not simulated.
void warn_of_idle_policy(ConfigMap recovery, std::string_view policy);

}  // namespace ringwright::planning
