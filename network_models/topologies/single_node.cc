// A single node: NVLink and PCIe inside one host, no network.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "network_models/builtin.h"
#include "network_models/host/host_block.h"

namespace ringwright::network_models {
namespace {

class SingleNodeRouter final : public Router {
 public:
  SingleNodeRouter(HostBlock block, std::span<const Bandwidth> capacities)
      : block_(std::move(block)), capacities_(capacities.begin(), capacities.end()) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    PathBuilder builder(hops, query.route_kind);
    static_cast<void>(block_.begin(query, builder));  // never leaves the one host
    return builder.latency();
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  HostBlock block_;
  std::vector<Bandwidth> capacities_;
};

class SingleNode final : public Topology {
 public:
  explicit SingleNode(const Host& host) : host_(host) {}
  [[nodiscard]] Network build() const override {
    const HostBlock block(host_);
    Network network;
    block.append_hosts(network.fabric, 1);
    network.router = std::make_unique<SingleNodeRouter>(block, network.fabric.capacities());
    return network;
  }
  void pass_through_host_memory(Bandwidth copies) override { host_.pass_through_memory(copies); }
  void leave_out_nvlink() override { host_.leave_out_nvlink(); }
  void leave_out_nics(const NicSets& sets) override { host_.nic_sets = sets; }

 private:
  Host host_;
};

}  // namespace

std::unique_ptr<Topology> read_single_node(ConfigMap& fabric, const TopologyRequest& request) {
  if (request.hosts > 1) {
    fabric.error("type", "E120",
                 fmt::format("'cluster.nodes' is {} but a fabric of this type holds one node", request.hosts),
                 "choose 'rail_optimized' or 'fat_tree'");
  }
  return std::make_unique<SingleNode>(request.host);
}

}  // namespace ringwright::network_models
