// Paths between hosts whose NICs have one cable each: shared by dragonfly and torus.
#pragma once

#include <vector>

#include "core/ports/router.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

// The NICs that the query or the host names.
struct NicsAsNamed {
  void operator()(const HostEnds& /*ends*/, NicEnds& /*nics*/) const {}
};

// As Router::route. `cables.cable(host, nic)` is the link out of a NIC, the next one the link into it; `between(ends,
// builder)` adds the links between the switches at both ends; `choose(ends, nics)` may take other NICs.
template <class Cables, class Between, class Choose = NicsAsNamed>
Duration route_over_cables(const RouteQuery& query, const HostBlock& block, const Cables& cables,
                           const FabricLatency& latency, std::vector<Hop>& hops, const Between& between,
                           const Choose& choose = {}) {
  PathBuilder builder(hops, query.route_kind);
  const HostEnds ends = block.begin(query, builder);
  if (ends.inside) return builder.latency();
  NicEnds nics = block.nics(query, ends);
  choose(ends, nics);
  if (builder.up_wanted()) {
    block.leave(ends, nics, builder);
    builder.add(cables.cable(ends.from_host, nics.out));
    builder.wait(latency.nic + block.more_nic_latency(ends.from_host) + latency.cable);
  }
  if (builder.down_wanted()) {
    between(ends, builder);
    builder.add(cables.cable(ends.to_host, nics.in) + 1);
    builder.wait(latency.hop + latency.cable + latency.nic + block.more_nic_latency(ends.to_host));
    block.enter(ends, nics, builder);
  }
  return builder.latency();
}

}  // namespace ringwright::network_models
