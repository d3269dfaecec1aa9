// Megatron's num_distributed_optimizer_instances: ZeRO stage 1 within groups of data-parallel ranks. Gradients are
// scattered within a group, and shards all-reduced over the groups; parameters are gathered within a group.
#pragma once

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

void read_optimizer_instances(ConfigMap& zero, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
