#include "configs/scenario/nics_down.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/fabric_names.h"

namespace ringwright::configs {
namespace {

bool stays_down(const network_models::LinkFault& fault) {
  const bool is_left = fault.failover == network_models::FailoverMode::kNone;
  return is_left && fault.factor <= 0.0 && fault.at == TimePoint() && fault.until == network_models::kForGood;
}

// Between NICs and switches of the network.
bool is_cable(const Fabric& fabric, const LinkSpec& link, NodeId nic) {
  const NodeId other = link.from == nic ? link.to : link.from;
  return (link.from == nic || link.to == nic) && is_network_switch(fabric.node(other).kind);
}

// By NIC that loses a cable.
std::map<NodeId, std::set<LinkId>> cables_down(const Fabric& fabric,
                                               std::span<const network_models::LinkFault> faults) {
  std::map<NodeId, std::set<LinkId>> result;
  for (const network_models::LinkFault& fault : faults) {
    if (!stays_down(fault)) continue;
    const LinkSpec& link = fabric.link(fault.link);
    for (const NodeId end : {link.from, link.to}) {
      if (fabric.node(end).kind == NodeKind::kNic && is_cable(fabric, link, end)) result[end].insert(fault.link);
    }
  }
  return result;
}

bool misses_all(const NicsDown& down, const NicsNeeded& needed, int first, int second) {
  for (int nic = 0; nic < std::min(needed.nics_of(first), needed.nics_of(second)); ++nic) {
    if (!down.misses(first, nic) && !down.misses(second, nic)) return false;
  }
  return true;
}

}  // namespace

bool NicsDown::misses(int host, int nic) const {
  const auto found = of_host.find(host);
  return found != of_host.end() && std::ranges::count(found->second, nic) > 0;
}

network_models::NicSets NicsDown::sets(std::int64_t hosts) const {
  network_models::NicSets sets;
  if (of_host.empty()) return sets;
  sets.missing.emplace_back();
  sets.of_host.assign(static_cast<std::size_t>(hosts), 0);
  for (const auto& [host, nics] : of_host) {
    const auto known = std::ranges::find(sets.missing, nics);
    sets.of_host[static_cast<std::size_t>(host)] = static_cast<int>(known - sets.missing.begin());
    if (known == sets.missing.end()) sets.missing.push_back(nics);
  }
  return sets;
}

NicsDown find_nics_down(const Fabric& fabric, std::span<const network_models::LinkFault> faults) {
  NicsDown down;
  const auto by_nic = cables_down(fabric, faults);
  if (by_nic.empty()) return down;
  std::map<NodeId, std::size_t> cables;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    for (const NodeId end : {link.from, link.to}) {
      if (by_nic.contains(end) && is_cable(fabric, link, end)) ++cables[end];
    }
  }
  for (const auto& [nic, links] : by_nic) {
    if (links.size() < cables[nic]) continue;
    const NodeSpec& node = fabric.node(nic);
    down.of_host[node.first].push_back(node.second);
    down.cables.insert(links.begin(), links.end());
  }
  for (auto& [host, nics] : down.of_host) std::ranges::sort(nics);
  return down;
}

std::string why_cut_off(const NicsDown& down, const NicsNeeded& needed) {
  if (needed.hosts < 2) return {};
  for (const auto& [host, nics] : down.of_host) {
    if (static_cast<int>(nics.size()) < needed.nics_of(host)) continue;
    return fmt::format("host{} has no NIC left: {} from the start and for good", host,
                       nics.size() == 1 ? "its only one is down" : fmt::format("all {} are down", nics.size()));
  }
  if (!needed.rails_apart) return {};
  for (const auto& [first, unused] : down.of_host) {
    for (const auto& [second, unused_too] : down.of_host) {
      if (first < second && misses_all(down, needed, first, second)) {
        return fmt::format("host{} and host{} have no rail in common: on every rail one of their NICs is down", first,
                           second);
      }
    }
  }
  return {};
}

}  // namespace ringwright::configs
