// The model in Megatron's flags: what several of them say together, or by being absent.
#pragma once

#include "configs/scenario/imports/megatron/megatron_tree.h"

namespace ringwright::configs {

void apply_model_rules(const MegatronArguments& arguments, MegatronTree& tree);

}  // namespace ringwright::configs
