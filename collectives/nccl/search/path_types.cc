#include "collectives/nccl/search/path_types.h"

namespace ringwright::collectives {

PathTypes::PathTypes(const NcclTopology& topology) {
  for (int gpu = 0; gpu < topology.gpus(); ++gpu) {
    for (int to = 0; to < topology.net(topology.nets()); ++to) {
      Has& has = to < topology.gpus() ? inside_ : between_;
      for (const auto* route : {&topology.route(gpu, to), &topology.route(to, gpu)}) {
        if (gpu != to) has[static_cast<std::size_t>(route->path)] = true;
      }
    }
  }
}

std::optional<NcclPath> PathTypes::next(const Has& has, NcclPath path, NcclPath most) {
  for (int worse = static_cast<int>(path) + 1; worse <= static_cast<int>(most); ++worse) {
    if (has[static_cast<std::size_t>(worse)]) return static_cast<NcclPath>(worse);
  }
  return std::nullopt;
}

}  // namespace ringwright::collectives
