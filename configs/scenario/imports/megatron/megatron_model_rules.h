// The model in Megatron's flags: rules for flags that act together, or by being absent.
#pragma once

#include "configs/scenario/imports/megatron/megatron_tree.h"

namespace ringwright::configs {

void apply_model_rules(const MegatronArguments& arguments, MegatronTree& tree);

}  // namespace ringwright::configs
