// One host as a block of fixed size that repeats for every host: its graph, the paths inside it, and its NICs.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"
#include "network_models/host/host_graph.h"
#include "network_models/host/host_nics.h"
#include "network_models/host/host_paths.h"
#include "network_models/host/path_builder.h"

namespace ringwright::network_models {

class HostBlock {
 public:
  explicit HostBlock(const Host& host) : graph_(host), paths_(host, graph_), nics_(host, graph_, paths_) {}

  [[nodiscard]] std::uint32_t node_count() const { return graph_.node_count(); }
  [[nodiscard]] std::uint32_t link_count() const { return graph_.link_count(); }
  [[nodiscard]] std::uint32_t gpus() const { return graph_.numbers().gpus; }
  [[nodiscard]] std::uint32_t nics() const { return graph_.numbers().nics; }
  [[nodiscard]] NodeId nic_node(std::uint32_t host, std::uint32_t nic) const {
    return NodeId(host * node_count() + graph_.numbers().first_nic + nic);
  }
  // In a host with all NICs.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t gpu) const { return nics_.of(gpu); }
  // Whether a host has this NIC of the common layout.
  [[nodiscard]] bool has_nic(std::uint32_t host, std::uint32_t nic) const { return nics_.has(host, nic); }
  // The GPU's own NICs: several where a host has several for each GPU, assigned in order; else nic_of.
  [[nodiscard]] std::uint32_t nics_of(std::uint32_t gpu) const { return nics_.count_of(gpu); }
  [[nodiscard]] std::uint32_t own_nic(std::uint32_t gpu, std::uint32_t number) const { return nics_.own(gpu, number); }

  // Adds hosts 0..count-1 to an empty fabric: host h's nodes start at h * node_count(), its links at h * link_count().
  void append_hosts(Fabric& fabric, std::uint32_t count) const { graph_.append_hosts(fabric, count); }

  // The ends of a query; a path within their host is added whole.
  [[nodiscard]] HostEnds begin(const RouteQuery& query, PathBuilder& builder) const;
  // A whole path between two GPUs of one host.
  void within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const;
  // The NICs that the query names where PCIe has a path to them, else those of the ends; kPxn uses the receiver's rail.
  [[nodiscard]] NicEnds nics(const RouteQuery& query, const HostEnds& ends) const {
    return nics_.ends(query, ends, paths_);
  }
  [[nodiscard]] std::uint32_t gpu_beside(const BesideNic& which) const { return nics_.gpu_beside(which); }
  // Between the sender and its outgoing NIC, and between the receiver's incoming NIC and the receiver.
  void leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;
  void enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const;

 private:
  HostGraph graph_;
  HostPaths paths_;
  HostNics nics_;
};

// Inline because every route begins with it.
inline HostEnds HostBlock::begin(const RouteQuery& query, PathBuilder& builder) const {
  HostEnds ends{.from_host = query.from.value / gpus(), .to_host = query.to.value / gpus()};
  ends.from_gpu = query.from.value - ends.from_host * gpus();
  ends.to_gpu = query.to.value - ends.to_host * gpus();
  ends.inside = true;
  if (stays_in_host(query.route_kind)) {
    paths_.append_beside(ends.from_gpu, query.route_kind, ends.from_host * link_count(), builder);
  } else if (ends.from_host == ends.to_host) {
    within(ends.from_host, ends.from_gpu, ends.to_gpu, builder);
  } else {
    ends.inside = false;
  }
  return ends;
}

}  // namespace ringwright::network_models
