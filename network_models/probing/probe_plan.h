// Probes between hosts and switches: every NIC port sends to switches of the highest tier, which send the probe back
// over the same cables, so that a path is a list of cables (NetBouncer, Tan et al., NSDI 2019, section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"

namespace ringwright::network_models {

// Both directions.
struct ProbedCable {
  LinkId up;
  LinkId down;
};

class ProbePlan {
 public:
  // At most `paths_per_port` for each port of a NIC: those of neighbouring ports follow one another, so that the ports
  // below a leaf cover all of its uplinks.
  ProbePlan(const Fabric& fabric, std::size_t paths_per_port);

  [[nodiscard]] std::span<const ProbedCable> cables() const { return cables_; }
  [[nodiscard]] std::size_t path_count() const { return first_.size() - 1; }
  // The switch that a cable leads up to, and the NIC or switch below.
  [[nodiscard]] NodeId upper_end(std::uint32_t cable) const { return fabric_.link(cables_[cable].up).to; }
  [[nodiscard]] NodeId lower_end(std::uint32_t cable) const { return fabric_.link(cables_[cable].up).from; }
  // Of the port with the most.
  [[nodiscard]] std::size_t paths_of_port() const { return paths_of_port_; }
  // By number among cables(), from the NIC up.
  [[nodiscard]] std::span<const std::uint32_t> path(std::size_t number) const {
    return std::span(steps_).subspan(first_[number], first_[number + 1] - first_[number]);
  }

 private:
  using Tiers = std::vector<std::vector<std::uint32_t>>;  // by node: cables up
  void add_paths(const Tiers& up, std::uint32_t cable, std::size_t first, std::size_t most);

  const Fabric& fabric_;
  std::vector<ProbedCable> cables_;
  std::vector<std::size_t> first_ = {0};
  std::vector<std::uint32_t> steps_;
  std::size_t paths_of_port_ = 0;
};

// Whether the fabric has tiers (leaves, spines, cores) from which probes can be sent back.
[[nodiscard]] bool has_tiers(const Fabric& fabric);

}  // namespace ringwright::network_models
