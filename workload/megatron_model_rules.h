// The model in Megatron's flags: what several of them say together, or by being absent.
#pragma once

#include "workload/megatron_tree.h"

namespace ringwright::workload {

void apply_model_rules(const MegatronArguments& arguments, MegatronTree& tree);

}  // namespace ringwright::workload
