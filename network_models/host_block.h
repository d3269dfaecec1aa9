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
    return static_cast<std::uint32_t>(own_nics_[gpu].size());
  }
  [[nodiscard]] std::uint32_t own_nic(std::uint32_t gpu, std::uint32_t number) const {
    return own_nics_[gpu][number].nic;
  }

  // Adds hosts 0..count-1 to an empty fabric: host h's nodes start at h * node_count(), its links at h * link_count().
  void append_hosts(Fabric& fabric, std::uint32_t count) const;

  // The ends of a query; a way that stays in their host is added whole.
  [[nodiscard]] HostEnds begin(const RouteQuery& query, Trail& trail) const;
  // A whole way between two GPUs of one host.
  void within(std::uint32_t host, std::uint32_t from, std::uint32_t to, Trail& trail) const;
  // From a GPU to another GPU of its host as the first (or last) part of a longer way: all links count as one side's.
  void forward(std::uint32_t host, std::uint32_t from, std::uint32_t to, Trail& trail) const;
  // Between a GPU and its NIC.
  void to_nic(std::uint32_t host, std::uint32_t gpu, Trail& trail) const;
  void from_nic(std::uint32_t host, std::uint32_t gpu, Trail& trail) const;
  // The same for one of the GPU's own NICs.
  void to_own_nic(std::uint32_t host, std::uint32_t gpu, std::uint32_t number, Trail& trail) const {
    append(own_nics_[gpu][number].up, host, trail);
  }
  void from_own_nic(std::uint32_t host, std::uint32_t gpu, std::uint32_t number, Trail& trail) const {
    append(own_nics_[gpu][number].down, host, trail);
  }
  // Out of the host: from the sender to its NIC, or over the GPU that has the receiver's NIC, where the query asks for
  // it. Returns the GPU beside whose NIC the bytes leave.
  std::uint32_t leave(const HostEnds& ends, Reach reach, Trail& trail) const;
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

  struct OwnNic {
    std::uint32_t nic = 0;
    LocalWay up;
    LocalWay down;
  };

  void find_own_nics();
  void add_nodes(const Host& host);
  void add_scale_up(const Host& host);
  void add_pcie(const Host& host);
  void add_storage(const Host& host);
  void find_ways_beside(const Host& host);
  void add_duplex(const Link& link);
  [[nodiscard]] LocalWay find_way(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] std::vector<std::uint32_t> pcie_way(std::uint32_t from, std::uint32_t to) const;
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
  std::vector<std::vector<OwnNic>> own_nics_;  // by GPU
  std::vector<std::uint32_t> nic_of_;     // by GPU
  std::vector<std::uint32_t> way_links_;  // links of all ways, end to end
  std::vector<LocalWay> gpu_ways_;        // by from * gpus + to
  std::vector<LocalWay> up_ways_;         // by GPU: to its NIC
  std::vector<LocalWay> down_ways_;       // by GPU: from its NIC
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
