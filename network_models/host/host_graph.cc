#include "network_models/host/host_graph.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

std::uint32_t unsigned_of(int number) {
  return static_cast<std::uint32_t>(number);
}

}  // namespace

HostGraph::HostGraph(const Host& host) {
  numbers_.gpus = unsigned_of(host.gpus);
  numbers_.nics = unsigned_of(host.nic.count);
  add_nodes(host);
  add_scale_up(host);
  add_pcie(host);
  add_sockets(host);
  add_storage(host);
}

int HostGraph::height(std::uint32_t node) const {
  switch (nodes_[node].kind) {
    case NodeKind::kPcieSwitch: return 1;
    case NodeKind::kRootComplex: return 2;
    case NodeKind::kNvSwitch: return 3;
    case NodeKind::kGpu:
    case NodeKind::kHostMemory:
    case NodeKind::kNic:
    case NodeKind::kLeaf:
    case NodeKind::kSpine:
    case NodeKind::kCore:
    case NodeKind::kSwitch:
    case NodeKind::kStorage: return 0;
  }
  return 0;
}

void HostGraph::add_nodes(const Host& host) {
  const auto add = [this](NodeKind kind, int count) {
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    for (int i = 0; i < count; ++i) nodes_.push_back({.kind = kind, .first = 0, .second = i});
    return first;
  };
  add(NodeKind::kGpu, host.gpus);
  numbers_.nvswitch = add(NodeKind::kNvSwitch, host.nvlink.kind == ScaleUp::kNvSwitch ? 1 : 0);
  numbers_.first_pcie_switch = add(NodeKind::kPcieSwitch, host.pcie.switches);
  numbers_.first_socket = add(NodeKind::kRootComplex, host.pcie.sockets);
  numbers_.first_memory = add(NodeKind::kHostMemory, host.pcie.sockets);
  numbers_.first_nic = add(NodeKind::kNic, host.nic.count);
  numbers_.storages = host.storage.drives > 0 ? unsigned_of(host.pcie.sockets) : 0;
  numbers_.first_storage = add(NodeKind::kStorage, host.storage.drives > 0 ? host.pcie.sockets : 0);
}

void HostGraph::add_duplex(const Link& link) {
  links_.push_back(link);
  links_.push_back(link);
  std::swap(links_.back().from, links_.back().to);
}

void HostGraph::add_scale_up(const Host& host) {
  const Host::NvLink& nvlink = host.nvlink;
  if (nvlink.kind == ScaleUp::kNvSwitch) {
    for (std::uint32_t gpu = 0; gpu < numbers_.gpus; ++gpu) {
      add_duplex({.from = gpu,
                  .to = numbers_.nvswitch,
                  .bandwidth = nvlink.data_rate(),
                  .latency = nvlink.latency / 2,
                  .scale_up = true});
      // The halves of an odd number of picoseconds must still add up to the total.
      links_.back().latency = nvlink.latency - nvlink.latency / 2;
    }
  }
  for (const MeshLink& link : nvlink.mesh) {
    add_duplex({.from = unsigned_of(link.a),
                .to = unsigned_of(link.b),
                .bandwidth = nvlink.data_rate() * link.lanes,
                .latency = nvlink.latency,
                .scale_up = true});
  }
}

void HostGraph::add_pcie(const Host& host) {
  const Host::Pcie& pcie = host.pcie;
  const std::uint32_t points = pcie.switches > 0 ? numbers_.first_pcie_switch : numbers_.first_socket;
  for (std::uint32_t gpu = 0; gpu < numbers_.gpus; ++gpu) {
    add_duplex({.from = gpu,
                .to = points + unsigned_of(pcie.gpu_at[gpu]),
                .bandwidth = pcie.gpu_bandwidth,
                .latency = pcie.latency});
  }
  for (std::uint32_t nic = 0; nic < numbers_.nics; ++nic) {
    add_duplex({.from = numbers_.first_nic + nic,
                .to = points + unsigned_of(pcie.nic_at[nic]),
                .bandwidth = pcie.bandwidth,
                .latency = pcie.latency});
  }
  for (int s = 0; s < pcie.switches; ++s) {
    add_duplex({.from = numbers_.first_pcie_switch + unsigned_of(s),
                .to = numbers_.first_socket + unsigned_of(s * pcie.sockets / pcie.switches),
                .bandwidth = pcie.bandwidth,
                .latency = pcie.latency});
  }
}

void HostGraph::add_sockets(const Host& host) {
  const Host::Pcie& pcie = host.pcie;
  for (int a = 0; a < pcie.sockets; ++a) {
    const std::uint32_t socket = numbers_.first_socket + unsigned_of(a);
    add_duplex({.from = socket,
                .to = socket + unsigned_of(pcie.sockets),
                .bandwidth = host.memory.bandwidth,
                .latency = host.memory.latency});
    for (int b = a + 1; b < pcie.sockets && b / pcie.sockets_per_board == a / pcie.sockets_per_board; ++b) {
      add_duplex({.from = socket,
                  .to = numbers_.first_socket + unsigned_of(b),
                  .bandwidth = pcie.socket_bandwidth,
                  .latency = pcie.socket_latency});
    }
  }
}

void HostGraph::add_storage(const Host& host) {
  if (numbers_.storages == 0) return;
  const double each = static_cast<double>(host.storage.drives) / host.pcie.sockets;
  for (std::uint32_t socket = 0; socket < numbers_.storages; ++socket) {
    links_.push_back({.from = numbers_.first_socket + socket,
                      .to = numbers_.first_storage + socket,
                      .bandwidth = host.storage.write * each,
                      .latency = host.storage.latency});
    links_.push_back({.from = numbers_.first_storage + socket,
                      .to = numbers_.first_socket + socket,
                      .bandwidth = host.storage.read * each,
                      .latency = host.storage.latency});
  }
}

void HostGraph::append_nodes(Fabric& fabric, std::uint32_t host) const {
  for (NodeSpec node : nodes_) {
    node.first = static_cast<std::int32_t>(host);
    const NodeId id = fabric.add_node(node);
    if (node.kind == NodeKind::kGpu) fabric.add_gpu(id);
  }
}

void HostGraph::append_links(Fabric& fabric, std::uint32_t first_node) const {
  for (const Link& link : links_) {
    fabric.add_link({.from = NodeId(first_node + link.from),
                     .to = NodeId(first_node + link.to),
                     .bandwidth = link.bandwidth,
                     .latency = link.latency});
  }
}

// Breadth first over the PCIe tree; bytes pass through switches and sockets only. Among equally short paths the one
// whose links come first wins.
std::vector<std::uint32_t> HostGraph::pcie_tree(std::uint32_t from) const {
  std::vector<std::uint32_t> by(nodes_.size(), kNowhere);
  std::vector<std::uint32_t> reached = {from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (i > 0 && height(reached[i]) == 0) continue;
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const std::uint32_t next = links_[link].to;
      if (links_[link].scale_up || links_[link].from != reached[i] || next == from || by[next] != kNowhere) continue;
      by[next] = link;
      reached.push_back(next);
    }
  }
  return by;
}

std::vector<std::uint32_t> HostGraph::pcie_path(const std::vector<std::uint32_t>& tree, std::uint32_t from,
                                                std::uint32_t to) const {
  std::vector<std::uint32_t> path;
  if (tree[to] == kNowhere) return path;
  for (std::uint32_t node = to; node != from; node = links_[tree[node]].from) path.push_back(tree[node]);
  std::reverse(path.begin(), path.end());
  return path;
}

std::uint32_t HostGraph::lane(std::uint32_t from, std::uint32_t to) const {
  const auto found = std::ranges::find_if(
      links_, [&](const Link& link) { return link.scale_up && link.from == from && link.to == to; });
  return found == links_.end() ? kNowhere : static_cast<std::uint32_t>(found - links_.begin());
}

// NCCL from 2.9 on (paths.cc, PATH_NVB): a search from the destination, whose neighbours come by falling bandwidth,
// then by number; the first of them that has a lane from the source.
std::vector<std::uint32_t> HostGraph::path_by_third_gpu(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> second;
  for (std::uint32_t gpu = 0; gpu < numbers_.gpus; ++gpu) {
    if (const std::uint32_t link = lane(gpu, to); link != kNowhere) second.push_back(link);
  }
  std::ranges::stable_sort(second, std::greater(), [&](std::uint32_t link) { return links_[link].bandwidth; });
  for (const std::uint32_t link : second) {
    if (const std::uint32_t first = lane(from, links_[link].from); first != kNowhere) return {first, link};
  }
  return {};
}

std::vector<std::uint32_t> HostGraph::path(std::uint32_t from, std::uint32_t to) const {
  if (from < numbers_.gpus && to < numbers_.gpus && nodes_[numbers_.nvswitch].kind == NodeKind::kNvSwitch) {
    return {2 * from, 2 * to + 1};  // add_scale_up: GPU g's links to the plane at 2g and from it at 2g + 1
  }
  if (const std::uint32_t direct = lane(from, to); direct != kNowhere) return {direct};
  if (from < numbers_.gpus && to < numbers_.gpus) {
    const std::vector<std::uint32_t> over_nvlink = path_by_third_gpu(from, to);
    if (!over_nvlink.empty()) return over_nvlink;
  }
  std::vector<std::uint32_t> path = pcie_path(pcie_tree(from), from, to);
  CHECK(!path.empty(), "the reader of hosts accepts no host with unreachable devices");
  return path;
}

}  // namespace ringwright::network_models
