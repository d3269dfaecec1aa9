// The numbering of a Clos network's nodes and links: hosts first, then cables, uplinks, core links, each by formula.
#pragma once

#include <cstdint>

#include "network_models/host/host_block.h"
#include "network_models/topologies/clos/clos_shape.h"

namespace ringwright::network_models {

// Every cable has two links: the even one leads up, the odd one down.
class ClosLinks {
 public:
  ClosLinks(const ClosShape& shape, const HostBlock& block)
      : shape_(shape),
        first_nic_(block.first_nic()),
        first_leaf_(block.first_node(shape.hosts)),
        first_spine_(first_leaf_ + shape.leaves()),
        first_core_(first_spine_ + shape.all_spines()),
        first_cable_(block.first_link(shape.hosts)),
        first_uplink_(first_cable_ + 2 * shape.nic_ports * first_nic_(shape.hosts)),
        first_core_link_(first_uplink_ + 2 * shape.leaves() * shape.uplinks) {}

  [[nodiscard]] std::uint32_t leaf_node(std::uint32_t leaf) const { return first_leaf_ + leaf; }
  [[nodiscard]] std::uint32_t spine_node(std::uint32_t pod, std::uint32_t spine) const {
    return first_spine_ + pod * shape_.spines + spine;
  }
  [[nodiscard]] std::uint32_t core_node(std::uint32_t plane, std::uint32_t core) const {
    return first_core_ + plane * shape_.cores + core;
  }

  [[nodiscard]] std::uint32_t cable(std::uint32_t host, std::uint32_t nic, std::uint32_t port) const {
    return first_cable_ + 2 * ((first_nic_(host) + nic) * shape_.nic_ports + port);
  }
  [[nodiscard]] std::uint32_t uplink(std::uint32_t leaf, std::uint32_t port) const {
    return first_uplink_ + 2 * (leaf * shape_.uplinks + port);
  }
  [[nodiscard]] std::uint32_t core_link(std::uint32_t pod, std::uint32_t spine, std::uint32_t port) const {
    return first_core_link_ + 2 * ((pod * shape_.spines + spine) * shape_.spine_uplinks + port);
  }

  // Number of the leaf of a rail's NICs, of their first ports, and the pod that it is in; the next port's leaf is the
  // next one.
  [[nodiscard]] std::uint32_t leaf(std::uint32_t group, std::uint32_t rail) const {
    return (group * shape_.rails + rail) * shape_.nic_ports;
  }
  [[nodiscard]] std::uint32_t pod(std::uint32_t group, std::uint32_t rail) const {
    return shape_.pod_kind == PodKind::kRail ? rail : group / shape_.groups_per_pod;
  }
  // The rail of a NIC, and its position among its host's NICs on that rail.
  [[nodiscard]] std::uint32_t rail_of(std::uint32_t nic) const {
    return shape_.spread == NicSpread::kRails ? nic % shape_.rails : nic / shape_.nics_per_rail();
  }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t nic) const {
    return shape_.spread == NicSpread::kRails ? nic / shape_.rails : nic % shape_.nics_per_rail();
  }

 private:
  ClosShape shape_;
  HostOffsets first_nic_;
  std::uint32_t first_leaf_;
  std::uint32_t first_spine_;
  std::uint32_t first_core_;
  std::uint32_t first_cable_;
  std::uint32_t first_uplink_;
  std::uint32_t first_core_link_;
};

}  // namespace ringwright::network_models
