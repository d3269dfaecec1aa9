// One host's block of nodes and links: NVLink plane or mesh, PCIe tree, NICs, memory; paths found once per block.
#include "network_models/host/host_block.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

// The height of a node: the apex of a path is its highest switch.
int height_in_host(NodeKind kind) {
  switch (kind) {
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

std::uint32_t unsigned_of(int number) {
  return static_cast<std::uint32_t>(number);
}

std::uint32_t socket_of(const Host& host, std::uint32_t gpu) {
  const Host::Pcie& pcie = host.pcie;
  const int point = pcie.gpu_at[gpu];
  return unsigned_of(pcie.switches > 0 ? point * pcie.sockets / pcie.switches : point);
}

}  // namespace

void PathBuilder::add_share(std::size_t since, std::uint32_t link, double share) {
  for (std::size_t i = since; i < hops_.size(); ++i) {
    if (hops_[i].link == LinkId(link)) {
      hops_[i].share += share;
      return;
    }
  }
  add(link, share);
}

HostBlock::HostBlock(const Host& host) : gpus_(unsigned_of(host.gpus)), nics_(unsigned_of(host.nic.count)) {
  add_nodes(host);
  add_scale_up(host);
  add_pcie(host);
  add_storage(host);
  for (std::uint32_t from = 0; from < gpus_; ++from) {
    for (std::uint32_t to = 0; to < gpus_; ++to) {
      gpu_paths_.push_back(from == to ? LocalPath() : find_path(from, to));
    }
  }
  find_paths_beside(host);
  find_nic_paths(host);
  add_nic_sets(host);
}

void HostBlock::find_nic_paths(const Host& host) {
  beside_.assign(nics_, kNowhere);
  std::vector<std::vector<std::uint32_t>> from_nic;  // by NIC
  for (std::uint32_t nic = 0; nic < nics_; ++nic) from_nic.push_back(pcie_tree(first_nic_ + nic));
  for (std::uint32_t gpu = 0; gpu < gpus_ && nics_ > 0; ++gpu) {
    nic_of_.push_back(unsigned_of(host.nic_of(static_cast<int>(gpu))));
    if (beside_[nic_of_.back()] == kNowhere) beside_[nic_of_.back()] = gpu;
    const std::vector<std::uint32_t> from_gpu = pcie_tree(gpu);
    for (std::uint32_t nic = 0; nic < nics_; ++nic) {
      up_paths_.push_back(add_path(pcie_path(from_gpu, gpu, first_nic_ + nic)));
      down_paths_.push_back(add_path(pcie_path(from_nic[nic], first_nic_ + nic, gpu)));
      if (!host.gpudirect && up_paths_.back().count > 0) pass_through_memory(host, gpu, nic, from_nic[nic]);
    }
    CHECK(up_paths_[gpu * nics_ + nic_of_.back()].count > 0, "the reader of hosts accepts no GPU without a NIC");
  }
}

void HostBlock::find_paths_beside(const Host& host) {
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
    const std::uint32_t socket = socket_of(host, gpu);
    const std::uint32_t memory = first_memory_ + socket;
    to_memory_.push_back(find_path(gpu, memory));
    from_memory_.push_back(find_path(memory, gpu));
    within_memory_.push_back(find_path(memory, first_socket_ + socket));
    if (storages_ == 0) continue;
    const std::uint32_t storage = first_storage_ + socket;
    to_storage_.push_back(find_path(memory, storage));
    from_storage_.push_back(find_path(storage, memory));
  }
}

// Without GPUDirect bytes are staged in the memory of the GPU's socket: replaces the latest two paths.
void HostBlock::pass_through_memory(const Host& host, std::uint32_t gpu, std::uint32_t nic,
                                    const std::vector<std::uint32_t>& from_nic) {
  const std::uint32_t memory = first_memory_ + socket_of(host, gpu);
  const std::uint32_t end = first_nic_ + nic;
  up_paths_.back() = join(to_memory_[gpu], add_path(pcie_path(pcie_tree(memory), memory, end)), up_paths_.back());
  down_paths_.back() = join(add_path(pcie_path(from_nic, end, memory)), from_memory_[gpu], down_paths_.back());
}

// One path after the other. Its latency is the longer of that between NIC and memory and that of `direct`, the path
// with GPUDirect: the latency between GPU and memory is part of the proxy's `network.post` and `network.poll`, since
// data and flags take it together. It has no apex: paths between a GPU and its NIC are taken whole.
LocalPath HostBlock::join(const LocalPath& first, const LocalPath& second, const LocalPath& direct) {
  const bool leaves = nodes_[links_[path_links_[first.first]].from].kind == NodeKind::kGpu;
  const LocalPath& of_nic = leaves ? second : first;
  LocalPath joined{.first = static_cast<std::uint32_t>(path_links_.size()),
                  .count = static_cast<std::uint16_t>(first.count + second.count),
                  .apex = static_cast<std::uint16_t>(first.count + second.count),
                  .up = std::max(of_nic.up + of_nic.down, direct.up + direct.down),
                  .down = {}};
  for (const LocalPath& part : {first, second}) {
    for (std::uint32_t i = part.first; i < part.first + part.count; ++i) path_links_.push_back(path_links_[i]);
  }
  return joined;
}

void HostBlock::add_nodes(const Host& host) {
  const auto add = [this](NodeKind kind, int count) {
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    for (int i = 0; i < count; ++i) nodes_.push_back({.kind = kind, .first = 0, .second = i});
    return first;
  };
  add(NodeKind::kGpu, host.gpus);
  nvswitch_ = add(NodeKind::kNvSwitch, host.nvlink.kind == ScaleUp::kNvSwitch ? 1 : 0);
  first_pcie_switch_ = add(NodeKind::kPcieSwitch, host.pcie.switches);
  first_socket_ = add(NodeKind::kRootComplex, host.pcie.sockets);
  first_memory_ = add(NodeKind::kHostMemory, host.pcie.sockets);
  first_nic_ = add(NodeKind::kNic, host.nic.count);
  storages_ = host.storage.drives > 0 ? unsigned_of(host.pcie.sockets) : 0;
  first_storage_ = add(NodeKind::kStorage, host.storage.drives > 0 ? host.pcie.sockets : 0);
}

void HostBlock::add_duplex(const Link& link) {
  links_.push_back(link);
  links_.push_back(link);
  std::swap(links_.back().from, links_.back().to);
}

void HostBlock::add_scale_up(const Host& host) {
  const Host::NvLink& nvlink = host.nvlink;
  if (nvlink.kind == ScaleUp::kNvSwitch) {
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      add_duplex({.from = gpu,
                  .to = nvswitch_,
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

void HostBlock::add_pcie(const Host& host) {
  const Host::Pcie& pcie = host.pcie;
  const std::uint32_t points = pcie.switches > 0 ? first_pcie_switch_ : first_socket_;
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
    add_duplex({.from = gpu,
                .to = points + unsigned_of(pcie.gpu_at[gpu]),
                .bandwidth = pcie.gpu_bandwidth,
                .latency = pcie.latency});
  }
  for (std::uint32_t nic = 0; nic < nics_; ++nic) {
    add_duplex({.from = first_nic_ + nic,
                .to = points + unsigned_of(pcie.nic_at[nic]),
                .bandwidth = pcie.bandwidth,
                .latency = pcie.latency});
  }
  for (int s = 0; s < pcie.switches; ++s) {
    add_duplex({.from = first_pcie_switch_ + unsigned_of(s),
                .to = first_socket_ + unsigned_of(s * pcie.sockets / pcie.switches),
                .bandwidth = pcie.bandwidth,
                .latency = pcie.latency});
  }
  for (int a = 0; a < pcie.sockets; ++a) {
    const std::uint32_t socket = first_socket_ + unsigned_of(a);
    add_duplex({.from = socket,
                .to = socket + unsigned_of(pcie.sockets),
                .bandwidth = host.memory.bandwidth,
                .latency = host.memory.latency});
    for (int b = a + 1; b < pcie.sockets && b / pcie.sockets_per_board == a / pcie.sockets_per_board; ++b) {
      add_duplex({.from = socket,
                  .to = first_socket_ + unsigned_of(b),
                  .bandwidth = pcie.socket_bandwidth,
                  .latency = pcie.socket_latency});
    }
  }
}

void HostBlock::add_storage(const Host& host) {
  if (storages_ == 0) return;
  const double each = static_cast<double>(host.storage.drives) / host.pcie.sockets;
  for (std::uint32_t socket = 0; socket < storages_; ++socket) {
    links_.push_back({.from = first_socket_ + socket,
                      .to = first_storage_ + socket,
                      .bandwidth = host.storage.write * each,
                      .latency = host.storage.latency});
    links_.push_back({.from = first_storage_ + socket,
                      .to = first_socket_ + socket,
                      .bandwidth = host.storage.read * each,
                      .latency = host.storage.latency});
  }
}

void HostBlock::append_hosts(Fabric& fabric, std::uint32_t count) const {
  CHECK(fabric.node_count() == 0, "hosts come first, so that their numbers are a formula");
  for (std::uint32_t host = 0; host < count; ++host) {
    for (NodeSpec node : nodes_) {
      node.first = static_cast<std::int32_t>(host);
      const NodeId id = fabric.add_node(node);
      if (node.kind == NodeKind::kGpu) fabric.add_gpu(id);
    }
  }
  for (std::uint32_t host = 0; host < count; ++host) {
    const std::uint32_t base = host * node_count();
    for (const Link& link : links_) {
      fabric.add_link({.from = NodeId(base + link.from),
                       .to = NodeId(base + link.to),
                       .bandwidth = link.bandwidth,
                       .latency = link.latency});
    }
  }
}

// Breadth first over the PCIe tree; bytes pass through switches and sockets only. Among equally short paths the one
// whose links come first wins.
std::vector<std::uint32_t> HostBlock::pcie_tree(std::uint32_t from) const {
  std::vector<std::uint32_t> by(nodes_.size(), kNowhere);
  std::vector<std::uint32_t> reached = {from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (i > 0 && height_in_host(nodes_[reached[i]].kind) == 0) continue;
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const std::uint32_t next = links_[link].to;
      if (links_[link].scale_up || links_[link].from != reached[i] || next == from || by[next] != kNowhere) continue;
      by[next] = link;
      reached.push_back(next);
    }
  }
  return by;
}

// Empty where PCIe has no path: between boards that are not connected.
std::vector<std::uint32_t> HostBlock::pcie_path(const std::vector<std::uint32_t>& tree, std::uint32_t from,
                                               std::uint32_t to) const {
  std::vector<std::uint32_t> path;
  if (tree[to] == kNowhere) return path;
  for (std::uint32_t node = to; node != from; node = links_[tree[node]].from) path.push_back(tree[node]);
  std::reverse(path.begin(), path.end());
  return path;
}

LocalPath HostBlock::find_path(std::uint32_t from, std::uint32_t to) {
  if (from < gpus_ && to < gpus_ && nodes_[nvswitch_].kind == NodeKind::kNvSwitch) {
    return add_path({2 * from, 2 * to + 1});  // add_scale_up: GPU g's links to the plane at 2g and from it at 2g + 1
  }
  const auto direct = std::find_if(links_.begin(), links_.end(), [&](const Link& link) {
    return link.scale_up && link.from == from && link.to == to;
  });
  if (direct != links_.end()) return add_path({static_cast<std::uint32_t>(direct - links_.begin())});
  const std::vector<std::uint32_t> path = pcie_path(pcie_tree(from), from, to);
  CHECK(!path.empty(), "the reader of hosts accepts no host with unreachable devices");
  return add_path(path);
}

LocalPath HostBlock::add_path(const std::vector<std::uint32_t>& path) {
  LocalPath result{.first = static_cast<std::uint32_t>(path_links_.size()),
                  .count = static_cast<std::uint16_t>(path.size()),
                  .apex = static_cast<std::uint16_t>(path.size()),
                  .up = {},
                  .down = {}};
  int highest = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int here = height_in_host(nodes_[links_[path[i]].to].kind);
    if (here > highest) {
      highest = here;
      result.apex = static_cast<std::uint16_t>(i + 1);
    }
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    (i < result.apex ? result.up : result.down) += links_[path[i]].latency;
  }
  path_links_.insert(path_links_.end(), path.begin(), path.end());
  return result;
}

void HostBlock::append(const LocalPath& path, std::uint32_t host, PathBuilder& builder) const {
  const std::uint32_t base = host * link_count();
  for (std::uint32_t i = path.first; i < path.first + path.count; ++i) builder.add(base + path_links_[i]);
  builder.wait(path.up + path.down);
}

void HostBlock::within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const {
  LocalPath path = gpu_paths_[from * gpus_ + to];
  if (!builder.down_wanted()) {
    path.count = path.apex;
    path.down = Duration();
  } else if (!builder.up_wanted()) {
    path.first += path.apex;
    path.count = static_cast<std::uint16_t>(path.count - path.apex);
    path.up = Duration();
  }
  append(path, host, builder);
}

void HostBlock::leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  if (nics.relay != ends.from_gpu) append(gpu_paths_[ends.from_gpu * gpus_ + nics.relay], ends.from_host, builder);
  append(up_paths_[nics.relay * nics_ + nics.out], ends.from_host, builder);
}

void HostBlock::enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  append(down_paths_[ends.to_gpu * nics_ + nics.in], ends.to_host, builder);
}

void HostBlock::beside(std::uint32_t host, std::uint32_t gpu, RouteKind route_kind, PathBuilder& builder) const {
  if (route_kind == RouteKind::kFromStorage) append(from_storage_[gpu], host, builder);
  if (route_kind == RouteKind::kToMemory || route_kind == RouteKind::kToStorage) append(to_memory_[gpu], host, builder);
  if (route_kind == RouteKind::kFromMemory || route_kind == RouteKind::kFromStorage)
    append(from_memory_[gpu], host, builder);
  if (route_kind == RouteKind::kToStorage) append(to_storage_[gpu], host, builder);
  if (route_kind == RouteKind::kWithinMemory) append(within_memory_[gpu], host, builder);
}

}  // namespace ringwright::network_models
