// Megatron's flags against each other: what its own checks refuse, and what has no effect without another flag.
#pragma once

#include "configs/scenario/imports/megatron/megatron_tree.h"

namespace ringwright::configs {

// Not of a log: Megatron accepted that, and it also prints what was not given.
void check_megatron(const MegatronArguments& arguments);

}  // namespace ringwright::configs
