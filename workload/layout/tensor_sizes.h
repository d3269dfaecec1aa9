// The tensor-parallel sizes of a layout, as checks name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// The tensor-parallel sizes of the stages, each once, and the key that sets them.
struct TensorSizes {
  std::vector<int> sizes;
  std::string_view key;
};

[[nodiscard]] TensorSizes tensor_sizes(const ParallelContext& context, const ParallelOptions& options);

// "parallel.tp = 4", "parallel.stages: tp = 4"
[[nodiscard]] std::string sized(const ConfigMap& parallel, std::string_view key, int tp);

}  // namespace ringwright::workload
