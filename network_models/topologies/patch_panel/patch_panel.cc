// Patch panel: hosts that optical circuits join directly into rings, each ring with a stride of its own.
//
// TopoOpt (Wang et al., NSDI 2023): a job of n hosts with d interfaces each gets d rings, in which host h sends to host
// (h + p) mod n. With p coprime with n every ring visits all hosts (TotientPerms), so that an all-reduce has d times
// the bandwidth of one ring (`permuted_rings`), and other pairs are few hops apart: hosts on the way forward, over all
// shortest paths. Circuits have one direction (the two fibres of an interface lead to different hosts). They are set
// before the job and stay: the time of setting them is no part of a step.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/central_router.h"
#include "network_models/topologies/graph/graph_router.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {
namespace {

struct PatchPanelPlan {
  Host host;
  std::uint32_t hosts = 1;
  std::vector<std::uint32_t> strides;
  Bandwidth speed;  // of a circuit
  FabricLatency latency;
  Routing routing;
};

Network build_patch_panel(const PatchPanelPlan& plan) {
  const HostBlock block(plan.host);
  Network network;
  Fabric& fabric = network.fabric;
  block.append_hosts(fabric, plan.hosts);
  std::vector<NodeId> interfaces;
  for (std::uint32_t host = 0; host < plan.hosts; ++host) {
    interfaces.push_back(fabric.add_node({.kind = NodeKind::kSwitch, .first = static_cast<std::int32_t>(host)}));
  }
  const FabricLatency& latency = plan.latency;
  for (std::uint32_t host = 0; host < plan.hosts; ++host) {
    const Bandwidth cable = plan.host.kind_at(host).nic.data_rate();
    const Duration through = latency.nic + block.more_nic_latency(host);
    for (std::uint32_t nic = 0; nic < block.nics_at(host); ++nic) {
      const NodeId node = block.nic_node(host, nic);
      fabric.add_link({.from = node, .to = interfaces[host], .bandwidth = cable, .latency = through});
      fabric.add_link({.from = interfaces[host], .to = node, .bandwidth = cable, .latency = through});
    }
  }
  for (const std::uint32_t stride : plan.strides) {
    for (std::uint32_t host = 0; host < plan.hosts; ++host) {
      fabric.add_link({.from = interfaces[host],
                       .to = interfaces[(host + stride) % plan.hosts],
                       .bandwidth = plan.speed,
                       .latency = latency.hop + latency.cable});
    }
  }
  network.router = std::make_unique<GraphRouter>(fabric, GraphRouter::Settings{.routing = plan.routing});
  return with_central_routing(std::move(network), plan.routing);
}

class PatchPanel final : public Topology {
 public:
  explicit PatchPanel(PatchPanelPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Network build() const override { return build_patch_panel(plan_); }
  void pass_through_host_memory(Bandwidth copies) override { plan_.host.pass_through_memory(copies); }
  void leave_out_nvlink() override { plan_.host.leave_out_nvlink(); }
  void leave_out_nics(const NicSets& sets) override { plan_.host.nic_sets = sets; }

 private:
  PatchPanelPlan plan_;
};

// The smallest strides whose rings visit all hosts, as in collectives/steps/permuted_rings.cc.
std::vector<std::uint32_t> coprime_strides(std::uint32_t hosts, std::size_t degree) {
  std::vector<std::uint32_t> strides;
  for (std::uint32_t p = 1; p < hosts && strides.size() < degree; ++p) {
    if (std::gcd(p, hosts) == 1) strides.push_back(p);
  }
  return strides;
}

std::vector<std::uint32_t> read_strides(ConfigMap& fabric, std::uint32_t hosts) {
  const std::vector<std::int64_t> given = fabric.integers(
      {.name = "rings", .doc = "stride of each ring, coprime with the nodes; default: the smallest", .min = 1});
  const auto degree = static_cast<std::size_t>(
      fabric.integer({.name = "degree",
                      .doc = "rings, one for each optical interface of a node",
                      .fallback = 4,
                      .min = 1,
                      .max = 64}));
  if (given.empty() || fabric.documenting()) return coprime_strides(hosts, degree);
  if (fabric.has("degree") && given.size() != degree) {
    fabric.error("degree", "E120", fmt::format("degree is {} and 'rings' has {} entries", degree, given.size()));
  }
  std::vector<std::uint32_t> strides;
  for (const std::int64_t stride : given) {
    if (stride >= hosts || std::gcd(stride, std::int64_t{hosts}) != 1) {
      fabric.error("rings", "E120",
                   fmt::format("stride {} shares a factor with the {} nodes, or is not below them", stride, hosts),
                   "a stride that is coprime with the number of nodes, such as 1");
      return coprime_strides(hosts, 1);
    }
    strides.push_back(static_cast<std::uint32_t>(stride));
  }
  return strides;
}

}  // namespace

std::unique_ptr<Topology> read_patch_panel(ConfigMap& fabric, const TopologyRequest& request);

std::unique_ptr<Topology> read_patch_panel(ConfigMap& fabric, const TopologyRequest& request) {
  PatchPanelPlan plan{.host = request.host, .hosts = static_cast<std::uint32_t>(request.hosts)};
  plan.strides = read_strides(fabric, plan.hosts);
  const double interfaces = static_cast<double>(std::max<std::size_t>(plan.strides.size(), 1));
  plan.speed = fabric.bandwidth({.name = "speed",
                                 .doc = "of one circuit, one direction",
                                 .fallback = request.host.fastest_nic() * (request.host.nic.count / interfaces),
                                 .usual = "the node's NICs over the rings"});
  plan.latency = read_latency(fabric, request.host.nic.latency);
  plan.host = with_fabric_latency(fabric, std::move(plan.host));
  plan.routing = read_routing(fabric);
  if (!request.host.every_kind_has_nics() && request.hosts > 1) {
    fabric.error("type", "E120", "circuits between nodes need NICs but 'cluster.node.nic.count' is 0");
  }
  return std::make_unique<PatchPanel>(std::move(plan));
}

}  // namespace ringwright::network_models
