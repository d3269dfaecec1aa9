// One host's nodes and links as a block of fixed size that repeats for every host, and the ways inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host.h"

namespace ringwright::network_models {

// A way inside a host, in link numbers of the block. The first `turn` links lead up to the highest switch on it.
struct LocalWay {
  std::uint32_t first = 0;
  std::uint16_t count = 0;
  std::uint16_t turn = 0;
  Duration up;    // latency of the first `turn` links
  Duration down;  // latency of the rest
};

// Collects the hops of one route, leaving out the part that the query's reach does not ask for.
class Trail {
 public:
  Trail(std::vector<Hop>& hops, Reach reach)
      : hops_(hops), up_wanted_(reach != Reach::kDownFromSwitch), down_wanted_(reach != Reach::kUpToSwitch) {
    hops_.clear();
  }

  [[nodiscard]] bool up_wanted() const { return up_wanted_; }
  [[nodiscard]] bool down_wanted() const { return down_wanted_; }
  void add(std::uint32_t link, double share = 1.0) { hops_.push_back({.link = LinkId(link), .share = share}); }
  // As add, but a link that is there already (at `since` or later) gets the shares of both.
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

// Where a query's two GPUs are.
struct HostEnds {
  std::uint32_t from_host = 0;
  std::uint32_t from_gpu = 0;  // in its host
  std::uint32_t to_host = 0;
  std::uint32_t to_gpu = 0;
  bool inside = false;  // the way does not leave the host
};

// The NICs by which a way between hosts goes, and the GPU of the sender's host that hands the bytes to the first one.
struct NicEnds {
  std::uint32_t relay = 0;  // the sender, unless another GPU is beside the NIC
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
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t gpu) const { return nic_of_[gpu]; }
  // NICs that are a GPU's own: several where a host has several for each GPU, shared out in order; else nic_of.
  [[nodiscard]] std::uint32_t nics_of(std::uint32_t gpu) const {
    return nics_ < 2 * gpus_ ? 1 : (gpu + 1) * nics_ / gpus_ - gpu * nics_ / gpus_;
  }
  [[nodiscard]] std::uint32_t own_nic(std::uint32_t gpu, std::uint32_t number) const {
    return nics_ < 2 * gpus_ ? nic_of_[gpu] : gpu * nics_ / gpus_ + number;
  }

  // Adds hosts 0..count-1 to an empty fabric: host h's nodes start at h * node_count(), its links at h * link_count().
  void append_hosts(Fabric& fabric, std::uint32_t count) const;

  // The ends of a query; a way that stays in their host is added whole.
  [[nodiscard]] HostEnds begin(const RouteQuery& query, Trail& trail) const;
  // A whole way between two GPUs of one host.
  void within(std::uint32_t host, std::uint32_t from, std::uint32_t to, Trail& trail) const;
  // The NICs that the query asks for where PCIe leads to them, else those of the ends; kByPeersRail asks for the
  // receiver's.
  [[nodiscard]] NicEnds nics(const RouteQuery& query, const HostEnds& ends) const;
  // The GPU that hands bytes to a NIC: `wanted` if the NIC is its own, else the first one whose own it is, else the
  // sender `from`.
  struct Beside {
    std::uint32_t nic = 0;
    std::uint32_t wanted = 0;
    std::uint32_t from = 0;
  };
  [[nodiscard]] std::uint32_t gpu_beside(const Beside& which) const;
  // Between the sender and the NIC by which its bytes leave, and between the receiver and the one by which they come.
  void leave(const HostEnds& ends, const NicEnds& nics, Trail& trail) const;
  void enter(const HostEnds& ends, const NicEnds& nics, Trail& trail) const;
  // Between a GPU and the memory or the drives of its socket, or within that memory: reaches that stay in a host.
  void beside(std::uint32_t host, std::uint32_t gpu, Reach reach, Trail& trail) const;

 private:
  struct Link {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bandwidth bandwidth;
    Duration latency;
    bool scale_up = false;
  };

  void add_nodes(const Host& host);
  void add_scale_up(const Host& host);
  void add_pcie(const Host& host);
  void add_storage(const Host& host);
  void find_ways_beside(const Host& host);
  // After the ways to host memory, over which they lead without GPUDirect.
  void find_nic_ways(const Host& host);
  void add_duplex(const Link& link);
  [[nodiscard]] LocalWay find_way(std::uint32_t from, std::uint32_t to);
  void pass_through_memory(const Host& host, std::uint32_t gpu, std::uint32_t nic,
                           const std::vector<std::uint32_t>& from_nic);
  [[nodiscard]] LocalWay join(const LocalWay& first, const LocalWay& second, const LocalWay& direct);
  // By node: the link by which PCIe leads to it from `from`.
  [[nodiscard]] std::vector<std::uint32_t> pcie_tree(std::uint32_t from) const;
  [[nodiscard]] std::vector<std::uint32_t> pcie_way(const std::vector<std::uint32_t>& tree, std::uint32_t from,
                                                    std::uint32_t to) const;
  [[nodiscard]] LocalWay add_way(const std::vector<std::uint32_t>& way);
  void append(const LocalWay& way, std::uint32_t host, Trail& trail) const;

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
  std::vector<std::uint32_t> way_links_;  // links of all ways, end to end
  std::vector<LocalWay> gpu_ways_;        // by from * gpus + to
  std::vector<std::uint32_t> beside_;     // by NIC: the first GPU whose own it is
  std::vector<LocalWay> up_ways_;         // by gpu * nics + nic: from the GPU to the NIC; no links: there is none
  std::vector<LocalWay> down_ways_;       // and back
  // By GPU. Storage: between memory and drives, the second half of a way.
  std::vector<LocalWay> to_memory_, from_memory_, within_memory_, to_storage_, from_storage_;
};

// Here because every route begins with it.
inline HostEnds HostBlock::begin(const RouteQuery& query, Trail& trail) const {
  HostEnds ends{.from_host = query.from.value / gpus_, .to_host = query.to.value / gpus_};
  ends.from_gpu = query.from.value - ends.from_host * gpus_;
  ends.to_gpu = query.to.value - ends.to_host * gpus_;
  ends.inside = true;
  if (stays_in_host(query.reach)) {
    beside(ends.from_host, ends.from_gpu, query.reach, trail);
  } else if (ends.from_host == ends.to_host) {
    within(ends.from_host, ends.from_gpu, ends.to_gpu, trail);
  } else {
    ends.inside = false;
  }
  return ends;
}

}  // namespace ringwright::network_models
