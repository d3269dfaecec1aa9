#include "network_models/host/host_paths.h"

#include <algorithm>

namespace ringwright::network_models {
namespace {

std::uint32_t socket_of_gpu(const Host& host, std::uint32_t gpu) {
  const Host::Pcie& pcie = host.pcie;
  const int point = pcie.gpu_at[gpu];
  return static_cast<std::uint32_t>(pcie.switches > 0 ? point * pcie.sockets / pcie.switches : point);
}

Duration latency_of(const LocalPath& path) {
  return path.up + path.down;
}

}  // namespace

HostPaths::HostPaths(const Host& host, const HostGraph& graph)
    : gpus_(graph.numbers().gpus), nics_(graph.numbers().nics) {
  for (std::uint32_t from = 0; from < gpus_; ++from) {
    for (std::uint32_t to = 0; to < gpus_; ++to) {
      of_gpus_.push_back(from == to ? LocalPath() : add(graph, graph.path(from, to)));
    }
  }
  find_memory_paths(host, graph);
  find_nics(host, graph);
}

void HostPaths::find_memory_paths(const Host& host, const HostGraph& graph) {
  const HostGraph::Numbers& nodes = graph.numbers();
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
    const std::uint32_t socket = socket_of_gpu(host, gpu);
    const std::uint32_t memory = nodes.first_memory + socket;
    MemoryPaths& paths = memory_paths_.emplace_back();
    paths.to_memory = add(graph, graph.path(gpu, memory));
    paths.from_memory = add(graph, graph.path(memory, gpu));
    paths.within_memory = add(graph, graph.path(memory, nodes.first_socket + socket));
    if (nodes.storages == 0) continue;
    const std::uint32_t storage = nodes.first_storage + socket;
    paths.to_storage = add(graph, graph.path(memory, storage));
    paths.from_storage = add(graph, graph.path(storage, memory));
  }
}

void HostPaths::find_nics(const Host& host, const HostGraph& graph) {
  const HostGraph::Numbers& nodes = graph.numbers();
  std::vector<std::vector<std::uint32_t>> from_nic;  // by NIC
  for (std::uint32_t nic = 0; nic < nics_; ++nic) from_nic.push_back(graph.pcie_tree(nodes.first_nic + nic));
  for (std::uint32_t gpu = 0; gpu < gpus_ && nics_ > 0; ++gpu) {
    const std::vector<std::uint32_t> from_gpu = graph.pcie_tree(gpu);
    const std::uint32_t memory = nodes.first_memory + socket_of_gpu(host, gpu);
    for (std::uint32_t nic = 0; nic < nics_; ++nic) {
      const std::uint32_t end = nodes.first_nic + nic;
      up_.push_back(add(graph, graph.pcie_path(from_gpu, gpu, end)));
      down_.push_back(add(graph, graph.pcie_path(from_nic[nic], end, gpu)));
      if (host.gpudirect || up_.back().count == 0) continue;
      pass_through_memory(graph, {.gpu = gpu, .memory = memory, .nic = end}, from_nic[nic]);
    }
  }
}

// Without GPUDirect bytes are staged in the memory of the GPU's socket: replaces the latest two paths.
//
// Their latency is the longer of that between NIC and memory and that of the path with GPUDirect: the latency between
// GPU and memory is part of the proxy's `network.post` and `network.poll`, since data and flags take it together.
void HostPaths::pass_through_memory(const HostGraph& graph, const Staged& ends,
                                    const std::vector<std::uint32_t>& from_nic) {
  const LocalPath out = add(graph, graph.pcie_path(graph.pcie_tree(ends.memory), ends.memory, ends.nic));
  LocalPath up = join(memory_paths_[ends.gpu].to_memory, out);
  up.up = std::max(latency_of(out), latency_of(up_.back()));
  up_.back() = up;
  const LocalPath in = add(graph, graph.pcie_path(from_nic, ends.nic, ends.memory));
  LocalPath down = join(in, memory_paths_[ends.gpu].from_memory);
  down.up = std::max(latency_of(in), latency_of(down_.back()));
  down_.back() = down;
}

// One path after the other, without their latencies. It has no apex: paths between a GPU and its NIC are taken whole.
LocalPath HostPaths::join(const LocalPath& first, const LocalPath& second) {
  const LocalPath joined{.first = static_cast<std::uint32_t>(links_.size()),
                         .count = static_cast<std::uint16_t>(first.count + second.count),
                         .apex = static_cast<std::uint16_t>(first.count + second.count),
                         .up = {},
                         .down = {}};
  for (const LocalPath& part : {first, second}) {
    for (std::uint32_t i = part.first; i < part.first + part.count; ++i) links_.push_back(links_[i]);
  }
  return joined;
}

LocalPath HostPaths::add(const HostGraph& graph, const std::vector<std::uint32_t>& path) {
  LocalPath result{.first = static_cast<std::uint32_t>(links_.size()),
                   .count = static_cast<std::uint16_t>(path.size()),
                   .apex = static_cast<std::uint16_t>(path.size()),
                   .up = {},
                   .down = {}};
  int highest = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int here = graph.height(graph.links()[path[i]].to);
    if (here > highest) {
      highest = here;
      result.apex = static_cast<std::uint16_t>(i + 1);
    }
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    (i < result.apex ? result.up : result.down) += graph.links()[path[i]].latency;
  }
  links_.insert(links_.end(), path.begin(), path.end());
  return result;
}

bool HostPaths::passes_socket(const HostGraph& graph, const LocalPath& path) const {
  for (std::uint32_t i = path.first; i < path.first + path.count; ++i) {
    if (graph.is_socket(graph.links()[links_[i]].to)) return true;
  }
  return false;
}

void HostPaths::append_memory_path(std::uint32_t gpu, RouteKind route_kind, std::uint32_t first_link,
                                   PathBuilder& builder) const {
  const MemoryPaths& paths = memory_paths_[gpu];
  const auto take = [&](const LocalPath& path) { append(path, first_link, builder); };
  if (route_kind == RouteKind::kFromStorage) take(paths.from_storage);
  if (route_kind == RouteKind::kToMemory || route_kind == RouteKind::kToStorage) take(paths.to_memory);
  if (route_kind == RouteKind::kFromMemory || route_kind == RouteKind::kFromStorage) take(paths.from_memory);
  if (route_kind == RouteKind::kToStorage) take(paths.to_storage);
  if (route_kind == RouteKind::kWithinMemory) take(paths.within_memory);
}

}  // namespace ringwright::network_models
