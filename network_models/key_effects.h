// When keys of `cluster.node` and `cluster.fabric` have an effect.
#pragma once

#include <span>

#include "core/config/key_effect.h"

namespace ringwright::network_models {

[[nodiscard]] std::span<const KeyEffect> network_key_effects();

}  // namespace ringwright::network_models
