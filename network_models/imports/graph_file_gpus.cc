#include "network_models/imports/graph_file_gpus.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::network_models {

std::optional<GpuMistake> order_gpus(std::span<const GraphGpu> gpus, Fabric& fabric) {
  std::vector<NodeId> order(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].index.has_value() != gpus.front().index.has_value()) {
      return GpuMistake{.gpu = i, .message = "either every gpu has an index or none has"};
    }
    const std::size_t place = gpus[i].index.value_or(i);
    if (place >= gpus.size()) {
      return GpuMistake{.gpu = i,
                        .message = fmt::format("gpu index {} is not below the number of gpus, {}", place, gpus.size())};
    }
    if (order[place].valid()) return GpuMistake{.gpu = i, .message = fmt::format("gpu index {} is given twice", place)};
    order[place] = gpus[i].node;
  }
  for (const NodeId gpu : order) fabric.add_gpu(gpu);
  return std::nullopt;
}

std::string near_kind(std::string_view text) {
  std::vector<std::string> kinds;
  for (int kind = 0; kind <= static_cast<int>(NodeKind::kStorage); ++kind) {
    kinds.emplace_back(to_string(static_cast<NodeKind>(kind)));
  }
  const std::string near = nearest_name(text, kinds);
  return near.empty() ? "kinds: " + join(kinds, ", ") : fmt::format("did you mean '{}'?", near);
}

std::string near_node(std::string_view text, const std::vector<std::string>& names) {
  const std::string near = nearest_name(text, names);
  return near.empty() ? "" : fmt::format("did you mean '{}'?", near);
}

}  // namespace ringwright::network_models
