// A host's NICs: which of them a GPU uses, also where some hosts have fewer.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/ports/router.h"
#include "network_models/host/host.h"
#include "network_models/host/host_graph.h"
#include "network_models/host/host_paths.h"

namespace ringwright::network_models {

// The positions of a query's two GPUs.
struct HostEnds {
  std::uint32_t from_host = 0;
  std::uint32_t from_gpu = 0;  // in its host
  std::uint32_t to_host = 0;
  std::uint32_t to_gpu = 0;
  bool inside = false;  // the path does not leave the host
};

// The NICs of a path between hosts, and the GPU of the sender's host that hands the bytes to the first one.
struct NicEnds {
  std::uint32_t relay = 0;  // the sender, unless another GPU owns the NIC
  std::uint32_t out = 0;
  std::uint32_t in = 0;
};

// The GPU that hands bytes to a NIC: `wanted` if it owns the NIC, else the first owner, else the sender `from`.
struct NicNeighbor {
  std::uint32_t nic = 0;
  std::uint32_t wanted = 0;
  std::uint32_t from = 0;
};

class HostNics {
 public:
  HostNics(const Host& host, const HostGraph& graph, const HostPaths& paths);

  // In a host with all NICs.
  [[nodiscard]] std::uint32_t of(std::uint32_t gpu) const { return nic_of_[gpu]; }
  // The GPU's own NICs: several where a host has several for each GPU, assigned in order; else that one.
  [[nodiscard]] std::uint32_t count_of(std::uint32_t gpu) const {
    return nics_ < 2 * gpus_ ? 1 : (gpu + 1) * nics_ / gpus_ - gpu * nics_ / gpus_;
  }
  [[nodiscard]] std::uint32_t own(std::uint32_t gpu, std::uint32_t number) const {
    return nics_ < 2 * gpus_ ? nic_of_[gpu] : gpu * nics_ / gpus_ + number;
  }
  // Whether a host of this kind has this NIC.
  [[nodiscard]] bool has(std::uint32_t host, std::uint32_t nic) const { return nic < nics_ && set_of(host).has[nic]; }
  // The NICs of hosts of one kind, and the paths to them.
  struct OfKind {
    const HostNics& nics;
    const HostPaths& paths;
  };
  // The NICs that the query names where PCIe has a path to them, else those of the ends.
  [[nodiscard]] static NicEnds ends(const RouteQuery& query, const HostEnds& gpus, const OfKind& from,
                                    const OfKind& to);
  [[nodiscard]] std::uint32_t gpu_next_to(const NicNeighbor& which) const;

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  // The outgoing NICs of GPUs on the hosts of one set: their own, or the nearest that is present, and the GPU that
  // hands it their bytes.
  struct NicSet {
    std::vector<bool> has;                // by NIC
    std::vector<std::uint32_t> nic_of;    // by GPU
    std::vector<std::uint32_t> relay_of;  // by GPU
  };
  [[nodiscard]] const NicSet& set_of(std::uint32_t host) const {
    return sets_[set_of_host_.empty() ? 0 : set_of_host_[host]];
  }
  struct Layout {
    const Host& host;
    const HostGraph& graph;
    const HostPaths& paths;
  };
  void add_sets(const Layout& layout);
  void take_nearest(const Layout& layout, std::uint32_t gpu, NicSet& set) const;

  std::uint32_t gpus_;
  std::uint32_t nics_;
  std::vector<std::uint32_t> nic_of_;       // by GPU
  std::vector<std::uint32_t> owner_of_;       // by NIC: the first GPU that owns it; kNowhere: none
  std::vector<NicSet> sets_;
  std::vector<std::uint32_t> set_of_host_;  // empty: all hosts have all NICs
};

}  // namespace ringwright::network_models
