#include "workload/layout/tensor_sizes.h"

#include <algorithm>

#include "workload/layout/stage_mesh_reader.h"

namespace ringwright::workload {

TensorSizes tensor_sizes(const ParallelContext& context, const ParallelOptions& options) {
  if (options.meshes.empty()) return {.sizes = {options.tp}, .key = "tp"};
  TensorSizes found{.sizes = {}, .key = stages_key(context)};
  for (const StageMesh& mesh : options.meshes) {
    if (std::ranges::find(found.sizes, mesh.tp) == found.sizes.end()) found.sizes.push_back(mesh.tp);
  }
  return found;
}

std::string sized(const ConfigMap& parallel, std::string_view key, int tp) {
  return parallel.path_of(key) + (key == "tp" ? " = " : ": tp = ") + std::to_string(tp);
}

}  // namespace ringwright::workload
