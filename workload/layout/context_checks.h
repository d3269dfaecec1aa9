// Checks of context parallelism: how ranks that split sequences exchange keys, values and heads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Sets options.ulysses where heads are exchanged for tokens among a subset of the context-parallel ranks.
void check_context_sizes(ConfigMap& parallel, const std::vector<std::int64_t>& sizes, ParallelOptions& options);

// Against sequence, heads and window of the model.
void check_context(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
