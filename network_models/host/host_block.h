// One host's nodes and links as a block of fixed size that repeats for every host, and the paths inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"

namespace ringwright::network_models {

// A path inside a host, in link numbers of the block. The first `apex` links lead up to its highest switch.
struct LocalPath {
  std::uint32_t first = 0;
  std::uint16_t count = 0;
  std::uint16_t apex = 0;
  Duration up;    // latency of the first `apex` links
  Duration down;  // latency of the rest
};

// Collects the hops of one route, without the section that the query's route kind excludes.
class PathBuilder {
 public:
  PathBuilder(std::vector<Hop>& hops, RouteKind route_kind)
      : hops_(hops),
        up_wanted_(route_kind != RouteKind::kDownFromSwitch),
        down_wanted_(route_kind != RouteKind::kUpToSwitch) {
    hops_.clear();
  }

  [[nodiscard]] bool up_wanted() const { return up_wanted_; }
  [[nodiscard]] bool down_wanted() const { return down_wanted_; }
  void add(std::uint32_t link, double share = 1.0) { hops_.push_back({.link = LinkId(link), .share = share}); }
  // As add, but a link that is already present (at `since` or later) gets the shares of both.
  void add_share(std::size_t since, std::uint32_t link, double share);
  void wait(Duration latency) { latency_ += latency; }
  [[nodiscard]] std::size_t size() const { return hops_.size(); }
  [[nodiscard]] Duration latency() const { return latency_; }

 private:
  std::vector<Hop>& hops_;
  Duration latency_;
  bool up_wanted_;
  bool down_wanted_;
};

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

class HostBlock {
 public:
  explicit HostBlock(const Host& host);

  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
  [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
  [[nodiscard]] std::uint32_t nics() const { return nics_; }
  [[nodiscard]] NodeId nic_node(std::uint32_t host, std::uint32_t nic) const {
    return NodeId(host * node_count() + first_nic_ + nic);
  }
  // In a host with all NICs.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t gpu) const { return nic_of_[gpu]; }
  // Whether a host has this NIC of the common layout.
  [[nodiscard]] bool has_nic(std::uint32_t host, std::uint32_t nic) const { return set_of(host).has[nic]; }
  // The GPU's own NICs: several where a host has several for each GPU, assigned in order; else nic_of.
  [[nodiscard]] std::uint32_t nics_of(std::uint32_t gpu) const {
    return nics_ < 2 * gpus_ ? 1 : (gpu + 1) * nics_ / gpus_ - gpu * nics_ / gpus_;
  }
  [[nodiscard]] std::uint32_t own_nic(std::uint32_t gpu, std::uint32_t number) const {
    return nics_ < 2 * gpus_ ? nic_of_[gpu] : gpu * nics_ / gpus_ + number;
  }

  // Adds hosts 0..count-1 to an empty fabric: host h's nodes start at h * node_count(), its links at h * link_count().
  void append_hosts(Fabric& fabric, std::uint32_t count) const;

  // The ends of a query; a path within their host is added whole.
  [[nodiscard]] HostEnds begin(const RouteQuery& query, PathBuilder& builder) const;
  // A whole path between two GPUs of one host.
  void within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const;
  // The NICs that the query names where PCIe has a path to them, else those of the ends; kPxn uses the receiver's rail.
  [[nodiscard]] NicEnds nics(const RouteQuery& query, const HostEnds& ends) const;
  // The GPU that hands bytes to a NIC: `wanted` if it owns the NIC, else the first owner, else the sender `from`.
  struct Beside {
    std::uint32_t nic = 0;
    std::uint32_t wanted = 0;
    std::uint32_t from = 0;
  };
  [[nodiscard]] std::uint32_t gpu_beside(const Beside& which) const;
  // Between the sender and its outgoing NIC, and between the receiver's incoming NIC and the receiver.
  void leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;
  void enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;
  // Between a GPU and the memory or the drives of its socket, or within that memory: route kinds within a host.
  void beside(std::uint32_t host, std::uint32_t gpu, RouteKind route_kind, PathBuilder& builder) const;

 private:
  struct Link {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bandwidth bandwidth;
    Duration latency;
    bool scale_up = false;
  };

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
  void add_nic_sets(const Host& host);
  void take_nearest_nic(const Host& host, std::uint32_t gpu, NicSet& set) const;
  [[nodiscard]] bool passes_socket(const LocalPath& path) const;
  void add_nodes(const Host& host);
  void add_scale_up(const Host& host);
  void add_pcie(const Host& host);
  void add_storage(const Host& host);
  void find_paths_beside(const Host& host);
  // Call after the paths to host memory, which they use without GPUDirect.
  void find_nic_paths(const Host& host);
  void add_duplex(const Link& link);
  [[nodiscard]] LocalPath find_path(std::uint32_t from, std::uint32_t to);
  void pass_through_memory(const Host& host, std::uint32_t gpu, std::uint32_t nic,
                           const std::vector<std::uint32_t>& from_nic);
  [[nodiscard]] LocalPath join(const LocalPath& first, const LocalPath& second, const LocalPath& direct);
  // By node: the link by which PCIe leads to it from `from`.
  [[nodiscard]] std::vector<std::uint32_t> pcie_tree(std::uint32_t from) const;
  [[nodiscard]] std::vector<std::uint32_t> pcie_path(const std::vector<std::uint32_t>& tree, std::uint32_t from,
                                                    std::uint32_t to) const;
  [[nodiscard]] LocalPath add_path(const std::vector<std::uint32_t>& path);
  void append(const LocalPath& path, std::uint32_t host, PathBuilder& builder) const;

  std::vector<NodeSpec> nodes_;
  std::vector<Link> links_;
  std::uint32_t gpus_ = 0;
  std::uint32_t nics_ = 0;
  std::uint32_t nvswitch_ = 0;
  std::uint32_t first_pcie_switch_ = 0;
  std::uint32_t first_socket_ = 0;
  std::uint32_t first_memory_ = 0;
  std::uint32_t first_storage_ = 0;
  std::uint32_t storages_ = 0;
  std::uint32_t first_nic_ = 0;
  std::vector<std::uint32_t> nic_of_;     // by GPU
  std::vector<std::uint32_t> path_links_;  // links of all paths, concatenated
  std::vector<LocalPath> gpu_paths_;        // by from * gpus + to
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> beside_;     // by NIC: the first GPU that owns it; kNowhere: none
  std::vector<LocalPath> up_paths_;         // by gpu * nics + nic: from the GPU to the NIC; no links: no path
  std::vector<LocalPath> down_paths_;       // and back
  std::vector<NicSet> sets_;
  std::vector<std::uint32_t> set_of_host_;  // empty: all hosts have all NICs
  // By GPU. Storage: between memory and drives, the second half of a path.
  std::vector<LocalPath> to_memory_, from_memory_, within_memory_, to_storage_, from_storage_;
};

// Inline because every route begins with it.
inline HostEnds HostBlock::begin(const RouteQuery& query, PathBuilder& builder) const {
  HostEnds ends{.from_host = query.from.value / gpus_, .to_host = query.to.value / gpus_};
  ends.from_gpu = query.from.value - ends.from_host * gpus_;
  ends.to_gpu = query.to.value - ends.to_host * gpus_;
  ends.inside = true;
  if (stays_in_host(query.route_kind)) {
    beside(ends.from_host, ends.from_gpu, query.route_kind, builder);
  } else if (ends.from_host == ends.to_host) {
    within(ends.from_host, ends.from_gpu, ends.to_gpu, builder);
  } else {
    ends.inside = false;
  }
  return ends;
}

}  // namespace ringwright::network_models
