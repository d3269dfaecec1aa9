#include "configs/scenario/graph_nets.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

int highest_gpu(const collectives::NcclGraph& graph) {
  int highest = -1;
  for (const std::vector<int>& order : graph.orders) {
    for (const int gpu : order) highest = std::max(highest, gpu);
  }
  return highest;
}

}  // namespace

void check_graph_nets(ConfigMap& comm, const collectives::NcclSetup& nccl) {
  if (!nccl.graph || !nccl.graph->ring) return;
  if (const int highest = highest_gpu(*nccl.graph->ring); highest >= nccl.host.gpus) {
    return comm.error(
        "graph", "E185",
        fmt::format("the file's rings visit GPU {} (dev), but a host has {}, numbered from 0", highest, nccl.host.gpus),
        "the file must describe a host like cluster.node");
  }
  const int nics = nccl.host.nics;
  if (nics == 0) return;
  std::string first;
  int unknown = 0;
  for (std::size_t channel = 0; channel < nccl.graph->ring->ports.size(); ++channel) {
    for (const int net : nccl.graph->ring->ports[channel]) {
      if (net < nics || unknown++ > 0) continue;
      first = fmt::format("channel {} uses net {}, but a host has {} NICs, numbered from 0", channel, net, nics);
    }
  }
  if (unknown == 0) return;
  if (unknown > 1) first += fmt::format("; the same holds for {} more ends of rings", unknown - 1);
  comm.warn("graph", "E185", first,
            "messages use the GPU's own NIC there; cluster.node.nic.count sets the number of NICs");
}

}  // namespace ringwright::configs
