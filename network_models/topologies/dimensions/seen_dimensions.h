// An ordinary cluster as ASTRA-sim would describe it: dimensions whose nodes are equivalent.
//
// The GPUs of a host are the first dimension, and hosts the next: one switch, or a ring for each side of a torus. Its
// links have the bandwidth of the narrowest link and the latency of the longest path that the routes between its nodes
// have, spread over the links of the block. What lies between (PCIe, rails, tiers of switches, ratios) is not seen.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "network_models/builtin.h"
#include "network_models/topologies/dimensions/astra_topology.h"

namespace ringwright::network_models {

struct SeenCluster {
  const Topology& topology;
  const Host& host;
  std::uint32_t hosts = 1;
};

// Or why it is no product of dimensions.
[[nodiscard]] tl::expected<AstraTopology, std::string> see_dimensions(const SeenCluster& cluster);

}  // namespace ringwright::network_models
