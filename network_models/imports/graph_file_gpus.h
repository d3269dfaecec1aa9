// Shared code of both forms of a graph file: the order of its GPUs, and the nearest name for a typo.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"

namespace ringwright::network_models {

struct GraphGpu {
  NodeId node;
  std::optional<std::size_t> index;  // its rank, where the file gives one
};

struct GpuMistake {
  std::size_t gpu = 0;  // which of them
  std::string message;
};

// Makes the nodes the fabric's GPUs: by index where given, all or none, else in the order of the file. The indices must
// be 0..n-1. Returns what is wrong, if anything.
[[nodiscard]] std::optional<GpuMistake> order_gpus(std::span<const GraphGpu> gpus, Fabric& fabric);

// "did you mean 'switch'?", or all kinds when none is near.
[[nodiscard]] std::string near_kind(std::string_view text);
// The same for a node; empty when none is near.
[[nodiscard]] std::string near_node(std::string_view text, const std::vector<std::string>& names);

}  // namespace ringwright::network_models
