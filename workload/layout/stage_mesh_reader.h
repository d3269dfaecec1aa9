// Reading `parallel.stages`: the meshes and layers of pipeline stages, listed one by one, and their checks.
#pragma once

#include <string_view>

#include "workload/options/training_options.h"

namespace ringwright::workload {

// Sets meshes, tp, pp, dp and the layers of every stage, if stages are listed, in the map or in the file that
// `parallel.plan_file` names. True if they are.
[[nodiscard]] bool read_stage_meshes(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);
// The key that lists the stages, where meshes are set.
[[nodiscard]] std::string_view stages_key(const ParallelContext& context);
// Once all options are read: what stages with meshes of their own do not support.
void check_stage_meshes(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
