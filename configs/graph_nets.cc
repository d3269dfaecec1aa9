#include "configs/graph_nets.h"

#include <filesystem>
#include <vector>

#include "collectives/nccl/graph_nets.h"

namespace ringwright::configs {

void check_graph_nets(ConfigMap& comm, const std::string& scenario, const network_models::Host& host) {
  if (comm.documenting() || !comm.has("graph") || host.nic.count == 0) return;
  const std::string name = comm.text({.name = "graph", .doc = "", .fallback = std::string()});
  const std::filesystem::path path = std::filesystem::path(scenario).parent_path() / name;
  const auto rings = collectives::load_ring_nets(path.lexically_normal().string());
  if (!rings) return;
  std::vector<int> nic_of;
  for (int gpu = 0; gpu < host.gpus; ++gpu) nic_of.push_back(host.nic_of(gpu));
  const std::string differs = collectives::other_nets(*rings, nic_of);
  if (differs.empty()) return;
  comm.warn("graph", "E185", differs,
            "messages go by the GPU's own NIC; cluster.node.pcie says which GPUs and NICs share a switch");
}

}  // namespace ringwright::configs
