// The paths inside one host, found once for all hosts: between GPUs, and between each GPU and NICs, memory and drives.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"
#include "network_models/host/host_graph.h"
#include "network_models/host/path_builder.h"

namespace ringwright::network_models {

// A path inside a host, in link numbers of the block. The first `apex` links lead up to its highest switch.
struct LocalPath {
  std::uint32_t first = 0;
  std::uint16_t count = 0;
  std::uint16_t apex = 0;
  Duration up;    // latency of the first `apex` links
  Duration down;  // latency of the rest
};

class HostPaths {
 public:
  HostPaths(const Host& host, const HostGraph& graph);

  [[nodiscard]] const LocalPath& between(std::uint32_t from, std::uint32_t to) const {
    return of_gpus_[from * gpus_ + to];
  }
  // From the GPU to the NIC, and back; no links: no path.
  [[nodiscard]] const LocalPath& up(std::uint32_t gpu, std::uint32_t nic) const { return up_[gpu * nics_ + nic]; }
  [[nodiscard]] const LocalPath& down(std::uint32_t gpu, std::uint32_t nic) const { return down_[gpu * nics_ + nic]; }
  [[nodiscard]] bool passes_socket(const HostGraph& graph, const LocalPath& path) const;
  [[nodiscard]] bool begins_with_nvlink(const HostGraph& graph, const LocalPath& path) const {
    return path.count > 0 && graph.links()[links_[path.first]].scale_up;
  }

  // Adds a path in the host whose links begin at this one.
  void append(const LocalPath& path, std::uint32_t first_link, PathBuilder& builder) const {
    for (std::uint32_t i = path.first; i < path.first + path.count; ++i) builder.add(first_link + links_[i]);
    builder.wait(path.up + path.down);
  }
  // Between a GPU and the memory or the drives of its socket, or within that memory: route kinds within a host.
  void append_memory_path(std::uint32_t gpu, RouteKind route_kind, std::uint32_t first_link,
                          PathBuilder& builder) const;

 private:
  // Paths between a GPU and the memory of its socket. Storage: between memory and drives, the second half of a path.
  struct MemoryPaths {
    LocalPath to_memory;
    LocalPath from_memory;
    LocalPath within_memory;
    LocalPath to_storage;
    LocalPath from_storage;
  };

  void find_memory_paths(const Host& host, const HostGraph& graph);
  // Call after the paths to host memory, which they use without GPUDirect.
  void find_nics(const Host& host, const HostGraph& graph);
  [[nodiscard]] LocalPath add(const HostGraph& graph, const std::vector<std::uint32_t>& path);
  struct Staged {
    std::uint32_t gpu = 0;
    std::uint32_t memory = 0;  // node
    std::uint32_t nic = 0;     // node
  };
  void pass_through_memory(const HostGraph& graph, const Staged& ends, const std::vector<std::uint32_t>& from_nic);
  [[nodiscard]] LocalPath join(const LocalPath& first, const LocalPath& second);

  std::uint32_t gpus_;
  std::uint32_t nics_;
  std::vector<std::uint32_t> links_;  // of all paths, concatenated
  std::vector<LocalPath> of_gpus_;    // by from * gpus + to
  std::vector<MemoryPaths> memory_paths_;        // by GPU
  std::vector<LocalPath> up_;         // by gpu * nics + nic
  std::vector<LocalPath> down_;
};

}  // namespace ringwright::network_models
