#include "configs/graph_nets.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "collectives/nccl/graph_nets.h"
#include "core/config/input_file.h"

namespace ringwright::configs {

void check_graph_nets(ConfigMap& comm, const network_models::Host& host) {
  if (comm.documenting() || !comm.has("graph")) return;
  const auto file = comm.file({.name = "graph", .doc = "", .fallback = std::string()});
  if (!file) return;
  const auto rings = collectives::parse_ring_nets(file->text, file->path);
  if (!rings) return;
  for (const collectives::RingNets& ring : *rings) {
    const int highest = ring.highest_gpu;
    if (highest < host.gpus) continue;
    return comm.error("graph", "E185",
                      fmt::format("the file's rings visit GPU {} (dev), and a host has {}, from 0", highest, host.gpus),
                      "the file must be of a host like cluster.node");
  }
  if (host.nic.count == 0) return;
  std::vector<int> nic_of;
  for (int gpu = 0; gpu < host.gpus; ++gpu) nic_of.push_back(host.nic_of(gpu));
  const std::string differs = collectives::other_nets(*rings, nic_of);
  if (differs.empty()) return;
  comm.warn("graph", "E185", differs,
            "messages go by the GPU's own NIC; cluster.node.pcie says which GPUs and NICs share a switch");
}

}  // namespace ringwright::configs
