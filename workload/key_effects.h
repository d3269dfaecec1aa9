// Conditions under which keys of `cluster.node.gpu`, `model`, `training`, `parallel` and `compute` have an effect, in
// addition to the readers' own checks (W131).
#pragma once

#include <span>

#include "core/config/key_effect.h"

namespace ringwright::workload {

[[nodiscard]] std::span<const KeyEffect> workload_key_effects();

}  // namespace ringwright::workload
