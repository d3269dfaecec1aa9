#include "network_models/probing/probe_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ringwright::network_models {
namespace {

// 0: none.
int tier_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNic: return 1;
    case NodeKind::kLeaf: return 2;
    case NodeKind::kSpine: return 3;
    case NodeKind::kCore: return 4;
    case NodeKind::kGpu:
    case NodeKind::kNvSwitch:
    case NodeKind::kPcieSwitch:
    case NodeKind::kRootComplex:
    case NodeKind::kHostMemory:
    case NodeKind::kSwitch:
    case NodeKind::kStorage: return 0;
  }
  return 0;
}

bool leads_up(const Fabric& fabric, const LinkSpec& link) {
  const int from = tier_of(fabric.node(link.from).kind);
  return from > 0 && tier_of(fabric.node(link.to).kind) == from + 1;
}

}  // namespace

bool has_tiers(const Fabric& fabric) {
  bool any = false;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    if (fabric.node(fabric.link(LinkId(i)).to).kind == NodeKind::kSwitch) return false;
    any = any || leads_up(fabric, fabric.link(LinkId(i)));
  }
  return any;
}

ProbePlan::ProbePlan(const Fabric& fabric, std::size_t paths_per_port) : fabric_(fabric) {
  Tiers up(fabric.node_count());
  std::vector<std::uint32_t> ports;
  // Parallel links: the n-th downwards belongs to the n-th upwards.
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> down;
  for (std::size_t i = fabric.link_count(); i-- > 0;) {
    const LinkSpec& link = fabric.link(LinkId(i));
    if (leads_up(fabric, {.from = link.to, .to = link.from, .bandwidth = {}, .latency = {}})) {
      down[{link.to, link.from}].emplace_back(i);
    }
  }
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    if (!leads_up(fabric, link)) continue;
    std::vector<LinkId>& back = down[{link.from, link.to}];
    if (back.empty()) continue;
    const auto number = static_cast<std::uint32_t>(cables_.size());
    cables_.push_back({.up = LinkId(i), .down = back.back()});
    back.pop_back();
    up[link.from.index()].push_back(number);
    if (fabric.node(link.from).kind == NodeKind::kNic) ports.push_back(number);
  }
  std::vector<std::size_t> probes_of(fabric.node_count(), 0);  // by leaf: paths that its ports have
  for (const std::uint32_t port : ports) {
    const NodeId leaf = fabric.link(cables_[port].up).to;
    const std::size_t before = path_count();
    add_paths(up, port, probes_of[leaf.index()], paths_per_port);
    probes_of[leaf.index()] += path_count() - before;
    paths_of_port_ = std::max(paths_of_port_, path_count() - before);
  }
}

// Path n takes uplink n % U of the leaf, and of its spine core link (n / U) % V.
void ProbePlan::add_paths(const Tiers& up, std::uint32_t cable, std::size_t first, std::size_t most) {
  std::size_t all = 1;
  for (NodeId node = fabric_.link(cables_[cable].up).to; !up[node.index()].empty();) {
    all *= up[node.index()].size();
    node = fabric_.link(cables_[up[node.index()].front()].up).to;
  }
  for (std::size_t i = 0; i < std::min(all, most); ++i) {
    steps_.push_back(cable);
    std::size_t number = first + i;
    for (NodeId node = fabric_.link(cables_[cable].up).to; !up[node.index()].empty();) {
      const std::vector<std::uint32_t>& choices = up[node.index()];
      steps_.push_back(choices[number % choices.size()]);
      number /= choices.size();
      node = fabric_.link(cables_[steps_.back()].up).to;
    }
    first_.push_back(steps_.size());
  }
}

}  // namespace ringwright::network_models
