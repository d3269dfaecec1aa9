// Training, layout and machine in Megatron's flags: what several of them say together, or by being absent.
#pragma once

#include "workload/megatron_tree.h"

namespace ringwright::workload {

void apply_training_rules(const MegatronArguments& arguments, MegatronTree& tree);
void apply_parallel_rules(const MegatronArguments& arguments, MegatronTree& tree);
void apply_machine_rules(const MegatronArguments& arguments, MegatronTree& tree);

}  // namespace ringwright::workload
