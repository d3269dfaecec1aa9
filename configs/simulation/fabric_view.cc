#include "configs/simulation/fabric_view.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/fabric/graph_analysis.h"
#include "core/fabric/graphviz.h"

namespace ringwright::configs {

FabricView::FabricView(const Cluster& cluster)
    : network_(cluster.topology->build()), gpus_per_host_(static_cast<std::size_t>(cluster.host.gpus)) {}

std::vector<DeviceCount> FabricView::devices() const {
  std::vector<DeviceCount> devices;
  for (const NodeCount& node : count_nodes(network_.fabric)) {
    devices.push_back({.kind = std::string(to_string(node.kind)), .count = node.count});
  }
  return devices;
}

std::vector<LinkKindCount> FabricView::links() const {
  std::vector<LinkKindCount> links;
  for (const LinkCount& link : count_links(network_.fabric)) {
    links.push_back({.from = std::string(to_string(link.from)),
                     .to = std::string(to_string(link.to)),
                     .count = link.count,
                     .each = link.each});
  }
  return links;
}

std::vector<HopView> FabricView::named_links() const {
  std::vector<HopView> links;
  for (std::size_t i = 0; i < network_.fabric.link_count(); ++i) {
    const LinkSpec& link = network_.fabric.link(LinkId(i));
    links.push_back({.link = network_.fabric.name(LinkId(i)), .bandwidth = link.bandwidth, .latency = link.latency});
  }
  return links;
}

Reachability FabricView::reachability() const {
  const Connectivity connectivity = check_connectivity(network_.fabric);
  Reachability result{.unreachable_pairs = connectivity.unreachable_pairs, .examples = {}};
  for (const auto& [from, to] : connectivity.examples) {
    result.examples.push_back(network_.fabric.name(from) + " -> " + network_.fabric.name(to));
  }
  return result;
}

PathView FabricView::path(std::size_t from, std::size_t to, std::uint32_t label) const {
  CHECK(from < gpus() && to < gpus() && from != to, "a path runs between two different ranks of the cluster");
  std::vector<Hop> hops;
  PathView path;
  path.latency = network_.router->route({.from = RankId(from), .to = RankId(to), .label = label}, hops);
  for (const Hop& hop : hops) {
    const LinkSpec& link = network_.fabric.link(hop.link);
    path.hops.push_back({.link = network_.fabric.name(hop.link), .bandwidth = link.bandwidth, .latency = link.latency,
                        .share = hop.share});
    const Bandwidth reachable = link.bandwidth / hop.share;
    path.narrowest = path.hops.size() == 1 ? reachable : std::min(path.narrowest, reachable);
  }
  return path;
}

Bandwidth FabricView::bisection() const { return bisection_bandwidth(network_.fabric, gpus_per_host_); }

std::string FabricView::drawing() const { return graphviz(network_.fabric); }

}  // namespace ringwright::configs
