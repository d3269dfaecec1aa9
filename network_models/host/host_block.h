// The hosts of a cluster as blocks of nodes and links that repeat: of each kind its graph, the paths inside, its NICs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"
#include "network_models/host/host_graph.h"
#include "network_models/host/host_nics.h"
#include "network_models/host/host_offsets.h"
#include "network_models/host/host_paths.h"
#include "network_models/host/path_builder.h"

namespace ringwright::network_models {

class HostBlock {
 public:
  explicit HostBlock(const Host& host);

  // Of a host of kind 0.
  [[nodiscard]] std::uint32_t node_count() const { return kinds_.front().graph.node_count(); }
  [[nodiscard]] std::uint32_t link_count() const { return kinds_.front().graph.link_count(); }
  // The first node, link or NIC of a host among those of all hosts; of the number of hosts, how many there are.
  [[nodiscard]] std::uint32_t first_node(std::uint32_t host) const { return nodes_(host); }
  [[nodiscard]] std::uint32_t first_link(std::uint32_t host) const { return links_(host); }
  [[nodiscard]] const HostOffsets& first_nic() const { return nics_; }
  [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
  // Of a host with the most.
  [[nodiscard]] std::uint32_t nics() const { return most_nics_; }
  [[nodiscard]] std::uint32_t nics_at(std::uint32_t host) const { return kind_at(host).graph.numbers().nics; }
  [[nodiscard]] NodeId nic_node(std::uint32_t host, std::uint32_t nic) const {
    return NodeId(first_node(host) + kind_at(host).graph.numbers().first_nic + nic);
  }
  // Whether a host has this NIC.
  [[nodiscard]] bool has_nic(std::uint32_t host, std::uint32_t nic) const { return kind_at(host).nics.has(host, nic); }
  // The GPU's own NICs in a host with all NICs: several where it has several for each GPU, assigned in order; else one.
  [[nodiscard]] std::uint32_t nics_of(std::uint32_t host, std::uint32_t gpu) const {
    return kind_at(host).nics.count_of(gpu);
  }
  [[nodiscard]] std::uint32_t own_nic(std::uint32_t host, std::uint32_t gpu, std::uint32_t number) const {
    return kind_at(host).nics.own(gpu, number);
  }
  // How much longer bytes take through a NIC of this host than through one of kind 0; may be negative.
  [[nodiscard]] Duration more_nic_latency(std::uint32_t host) const { return kind_at(host).more_nic_latency; }

  // Adds hosts 0..count-1 to an empty fabric.
  void append_hosts(Fabric& fabric, std::uint32_t count) const;

  // The ends of a query; a path within their host is added whole.
  [[nodiscard]] HostEnds begin(const RouteQuery& query, PathBuilder& builder) const;
  // A whole path between two GPUs of one host.
  void within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const;
  // The NICs that the query names where PCIe has a path to them, else those of the ends; kPxn uses the receiver's rail.
  [[nodiscard]] NicEnds nics(const RouteQuery& query, const HostEnds& ends) const {
    const Kind& from = kind_at(ends.from_host);
    const Kind& to = kind_at(ends.to_host);
    return HostNics::ends(query, ends, {from.nics, from.paths}, {to.nics, to.paths});
  }
  [[nodiscard]] std::uint32_t gpu_next_to(std::uint32_t host, const NicNeighbor& which) const {
    return kind_at(host).nics.gpu_next_to(which);
  }
  // Between the sender and its outgoing NIC, and between the receiver's incoming NIC and the receiver.
  void leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;
  void enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;

 private:
  struct Kind {
    explicit Kind(const Host& host) : graph(host), paths(host, graph), nics(host, graph, paths) {}
    HostGraph graph;
    HostPaths paths;
    HostNics nics;
    Duration more_nic_latency;
  };
  [[nodiscard]] const Kind& kind_at(std::uint32_t host) const {
    return kind_of_host_.empty() ? kinds_.front() : kinds_[static_cast<std::size_t>(kind_of_host_[host])];
  }

  std::vector<Kind> kinds_;
  std::vector<int> kind_of_host_;  // empty: all are of kind 0
  std::uint32_t gpus_;
  std::uint32_t most_nics_;
  HostOffsets nodes_;
  HostOffsets links_;
  HostOffsets nics_;
};

// Inline because every route begins with it.
inline HostEnds HostBlock::begin(const RouteQuery& query, PathBuilder& builder) const {
  HostEnds ends{.from_host = query.from.value / gpus_, .to_host = query.to.value / gpus_};
  ends.from_gpu = query.from.value - ends.from_host * gpus_;
  ends.to_gpu = query.to.value - ends.to_host * gpus_;
  ends.inside = true;
  if (stays_in_host(query.route_kind)) {
    const HostPaths& paths = kind_at(ends.from_host).paths;
    paths.append_memory_path(ends.from_gpu, query.route_kind, first_link(ends.from_host), builder);
  } else if (ends.from_host == ends.to_host) {
    within(ends.from_host, ends.from_gpu, ends.to_gpu, builder);
  } else {
    ends.inside = false;
  }
  return ends;
}

}  // namespace ringwright::network_models
