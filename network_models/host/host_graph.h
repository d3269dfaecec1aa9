// One host's nodes and links as a graph, which repeats for every host: NVLink plane or mesh, PCIe tree, NICs, memory,
// drives.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/fabric/fabric.h"
#include "network_models/host/host.h"

namespace ringwright::network_models {

class HostGraph {
 public:
  struct Link {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bandwidth bandwidth;
    Duration latency;
    bool scale_up = false;
  };
  // Nodes of one kind are numbered one after another; GPUs come first.
  struct Numbers {
    std::uint32_t gpus = 0;
    std::uint32_t nics = 0;
    std::uint32_t nvswitch = 0;
    std::uint32_t first_pcie_switch = 0;
    std::uint32_t first_socket = 0;
    std::uint32_t first_memory = 0;
    std::uint32_t first_nic = 0;
    std::uint32_t first_storage = 0;
    std::uint32_t storages = 0;
  };
  explicit HostGraph(const Host& host);

  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
  // Of a node: the apex of a path is its highest switch.
  [[nodiscard]] int height(std::uint32_t node) const;
  [[nodiscard]] bool is_gpu(std::uint32_t node) const { return nodes_[node].kind == NodeKind::kGpu; }
  [[nodiscard]] bool is_socket(std::uint32_t node) const { return nodes_[node].kind == NodeKind::kRootComplex; }

  // The links of the path that bytes take: over NVLink where it connects the two, at most through one other GPU, else
  // over PCIe.
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to) const;
  // By node: the link by which PCIe leads to it from `from`.
  [[nodiscard]] std::vector<std::uint32_t> pcie_tree(std::uint32_t from) const;
  // Empty where PCIe has no path: between boards that are not connected.
  [[nodiscard]] std::vector<std::uint32_t> pcie_path(const std::vector<std::uint32_t>& tree, std::uint32_t from,
                                                    std::uint32_t to) const;

  // Adds the nodes of one host.
  void append_nodes(Fabric& fabric, std::uint32_t host) const;
  // Adds its links, once its nodes are there: they begin at `first_node`.
  void append_links(Fabric& fabric, std::uint32_t first_node) const;

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  void add_nodes(const Host& host);
  void add_scale_up(const Host& host);
  void add_pcie(const Host& host);
  void add_sockets(const Host& host);
  void add_storage(const Host& host);
  void add_duplex(const Link& link);
  // The link of a mesh; kNowhere: there is none.
  [[nodiscard]] std::uint32_t lane(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::vector<std::uint32_t> path_by_third_gpu(std::uint32_t from, std::uint32_t to) const;

  std::vector<NodeSpec> nodes_;
  std::vector<Link> links_;
  Numbers numbers_;
};

}  // namespace ringwright::network_models
