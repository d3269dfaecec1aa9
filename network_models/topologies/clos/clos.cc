// Building a Clos network: hosts, leaves, spines, cores and the cables between them, in the order of ClosLinks.
#include "network_models/topologies/clos/clos.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/central_router.h"
#include "network_models/topologies/clos/clos_links.h"
#include "network_models/topologies/clos/clos_router.h"

namespace ringwright::network_models {
namespace {

std::int32_t signed_of(std::uint32_t number) {
  return static_cast<std::int32_t>(number);
}

// Tier coordinates for names: "leaf3.2" is group 3, rail 2 (with dual ToR rail 1, port 0); a coordinate that is always
// 0 is left out.
void add_switches(Fabric& fabric, const ClosShape& shape) {
  const std::uint32_t of_group = shape.rails * shape.nic_ports;
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    for (std::uint32_t leaf = 0; leaf < of_group; ++leaf) {
      fabric.add_node(
          {.kind = NodeKind::kLeaf, .first = signed_of(group), .second = of_group > 1 ? signed_of(leaf) : -1});
    }
  }
  for (std::uint32_t pod = 0; pod < shape.pods; ++pod) {
    for (std::uint32_t spine = 0; spine < shape.spines; ++spine) {
      const bool one_pod = shape.pods == 1;
      fabric.add_node({.kind = NodeKind::kSpine,
                       .first = signed_of(one_pod ? spine : pod),
                       .second = one_pod ? -1 : signed_of(spine)});
    }
  }
  for (std::uint32_t plane = 0; plane < shape.spines && shape.cores > 0; ++plane) {
    for (std::uint32_t core = 0; core < shape.cores; ++core) {
      fabric.add_node({.kind = NodeKind::kCore, .first = signed_of(plane), .second = signed_of(core)});
    }
  }
}

struct Cable {
  NodeId low;
  NodeId high;
  Bandwidth bandwidth;
  Duration up;
  Duration down;
};

LinkId add_cable(Fabric& fabric, const Cable& cable) {
  const LinkId up =
      fabric.add_link({.from = cable.low, .to = cable.high, .bandwidth = cable.bandwidth, .latency = cable.up});
  fabric.add_link({.from = cable.high, .to = cable.low, .bandwidth = cable.bandwidth, .latency = cable.down});
  return up;
}

void add_nic_cables(Fabric& fabric, const ClosPlan& plan, const HostBlock& block, const ClosLinks& links) {
  const ClosShape& shape = plan.shape;
  const FabricLatency& latency = shape.latency;
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    const Host::Nic& own = plan.host.kind_at(host).nic;
    const Duration through = latency.nic + block.more_nic_latency(host);
    const Bandwidth port_speed = std::min(own.bandwidth / shape.nic_ports, shape.leaf_port) * own.efficiency;
    for (std::uint32_t i = 0; i < block.nics_at(host) * shape.nic_ports; ++i) {
      const std::uint32_t nic = i / shape.nic_ports;
      const std::uint32_t port = i % shape.nic_ports;
      const std::uint32_t leaf = links.leaf(host / shape.group, links.rail_of(nic)) + port;
      const LinkId added = add_cable(fabric, {.low = block.nic_node(host, nic),
                                              .high = NodeId(links.leaf_node(leaf)),
                                              .bandwidth = port_speed,
                                              .up = through + latency.cable,
                                              .down = latency.hop + latency.cable + through});
      DCHECK(added.value == links.cable(host, nic, port), "cables are numbered as in ClosLinks");
    }
  }
}

void add_switch_cables(Fabric& fabric, const ClosShape& shape, const ClosLinks& links) {
  const Duration switched = shape.latency.hop + shape.latency.cable;
  for (std::uint32_t leaf = 0; leaf < shape.leaves(); ++leaf) {
    const std::uint32_t track = leaf / shape.nic_ports;
    const std::uint32_t pod = links.pod(track / shape.rails, track % shape.rails);
    for (std::uint32_t port = 0; port < shape.uplinks; ++port) {
      const LinkId added = add_cable(fabric, {.low = NodeId(links.leaf_node(leaf)),
                                              .high = NodeId(links.spine_node(pod, port % shape.spines)),
                                              .bandwidth = shape.uplink,
                                              .up = switched,
                                              .down = switched});
      DCHECK(added.value == links.uplink(leaf, port), "uplinks are numbered as in ClosLinks");
    }
  }
  for (std::uint32_t pod = 0; pod < shape.pods; ++pod) {
    for (std::uint32_t spine = 0; spine < shape.spines; ++spine) {
      for (std::uint32_t port = 0; port < shape.spine_uplinks; ++port) {
        const LinkId added = add_cable(fabric, {.low = NodeId(links.spine_node(pod, spine)),
                                                .high = NodeId(links.core_node(spine, port % shape.cores)),
                                                .bandwidth = shape.core_link,
                                                .up = switched,
                                                .down = switched});
        DCHECK(added.value == links.core_link(pod, spine, port), "core links are numbered as in ClosLinks");
      }
    }
  }
}

}  // namespace

Network build_clos(const ClosPlan& plan) {
  const HostBlock block(plan.host);
  const ClosLinks links(plan.shape, block);
  Network network;
  block.append_hosts(network.fabric, plan.shape.hosts);
  add_switches(network.fabric, plan.shape);
  add_nic_cables(network.fabric, plan, block, links);
  add_switch_cables(network.fabric, plan.shape, links);
  const auto capacities = network.fabric.capacities();
  network.router = std::make_unique<ClosRouter>(
      ClosRouter::Inputs{.block = block,
                        .shape = plan.shape,
                        .routing = plan.routing,
                        .capacities = std::vector<Bandwidth>(capacities.begin(), capacities.end())});
  return with_central_routing(std::move(network), plan.routing);
}

}  // namespace ringwright::network_models
