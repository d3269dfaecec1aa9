// Looks up names of nodes and links, and suggests the nearest when there is no such name.
#include "configs/scenario/fabric_names.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::configs {

bool is_network_switch(NodeKind kind) {
  return is_switch(kind) && kind != NodeKind::kNvSwitch && kind != NodeKind::kPcieSwitch;
}

FabricNames::FabricNames(const Fabric& fabric) : fabric_(fabric) {
  names_.reserve(fabric.node_count());
  for (std::size_t node = 0; node < fabric.node_count(); ++node) {
    names_.push_back(fabric.name(NodeId(node)));
    nodes_.emplace(names_.back(), NodeId(node));
  }
}

std::optional<NodeId> FabricNames::node(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

FoundLinks FabricNames::no_node(const std::string& name) const {
  return {.links = {},
          .problem = fmt::format("the fabric has no node '{}'", name),
          .nearest = nearest_name(name, names_)};
}

std::vector<std::string> FabricNames::neighbours(NodeId node) const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
    const LinkSpec& link = fabric_.link(LinkId(i));
    if (link.from == node) result.push_back(names_[link.to.index()]);
  }
  return result;
}

FoundLinks FabricNames::links(std::string_view name) const {
  constexpr std::string_view kArrow = "->";
  const std::size_t arrow = name.find(kArrow);
  if (arrow == std::string_view::npos) {
    return {.links = {}, .problem = fmt::format("'{}' is no link: a link is FROM->TO", name), .nearest = ""};
  }
  const std::string from(name.substr(0, arrow));
  const std::string to(name.substr(arrow + kArrow.size()));
  const auto from_node = node(from);
  if (!from_node) return no_node(from);
  const auto to_node = node(to);
  FoundLinks found;
  for (std::size_t i = 0; to_node && i < fabric_.link_count(); ++i) {
    const LinkSpec& link = fabric_.link(LinkId(i));
    if (link.from == *from_node && link.to == *to_node) found.links.emplace_back(i);
  }
  if (!found.links.empty()) return found;
  found.problem = fmt::format("there is no link from '{}' to '{}'", from, to);
  const std::string near = nearest_name(to, neighbours(*from_node));
  if (!near.empty()) found.nearest = from + std::string(kArrow) + near;
  return found;
}

FoundLinks FabricNames::cables_of_nic(std::string_view name) const {
  const std::string text(name);
  const auto nic = node(text);
  if (!nic) return no_node(text);
  if (fabric_.node(*nic).kind != NodeKind::kNic) {
    return {.links = {}, .problem = fmt::format("'{}' is no NIC", name), .nearest = ""};
  }
  FoundLinks found;
  const Cables ports = cables(*nic);
  found.links = ports.out;
  found.links.insert(found.links.end(), ports.in.begin(), ports.in.end());
  std::ranges::sort(found.links);
  if (found.links.empty()) found.problem = fmt::format("'{}' has no cable to a switch of the network", name);
  return found;
}

FabricNames::Cables FabricNames::cables(NodeId nic) const {
  Cables cables;
  for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
    const LinkSpec& link = fabric_.link(LinkId(i));
    if (link.from == nic && is_network_switch(fabric_.node(link.to).kind)) cables.out.emplace_back(i);
    if (link.to == nic && is_network_switch(fabric_.node(link.from).kind)) cables.in.emplace_back(i);
  }
  return cables;
}

FoundLinks FabricNames::cable_of_port(std::string_view name) const {
  const std::size_t dot = name.rfind('.');
  std::size_t number = 0;
  const std::string_view digits = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || failure != std::errc() || end != digits.data() + digits.size()) {
    return {.links = {}, .problem = fmt::format("'{}' is no port: a port is NIC.NUMBER", name), .nearest = ""};
  }
  FoundLinks found = cables_of_nic(name.substr(0, dot));
  if (found.links.empty()) return found;
  const Cables ports = cables(*node(std::string(name.substr(0, dot))));
  const auto count = std::min(ports.out.size(), ports.in.size());
  found.links.clear();
  if (number >= count) {
    found.problem = fmt::format("'{}' has {} {}, numbered from 0", name.substr(0, dot), count,
                                count == 1 ? "port" : "ports");
    return found;
  }
  found.links = {ports.out[number], ports.in[number]};
  return found;
}

FoundLinks FabricNames::links_of_switch(std::string_view name) const {
  const auto found_node = node(std::string(name));
  if (!found_node) return no_node(std::string(name));
  if (!is_network_switch(fabric_.node(*found_node).kind)) {
    return {.links = {}, .problem = fmt::format("'{}' is no switch of the network", name), .nearest = ""};
  }
  FoundLinks found;
  for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
    const LinkSpec& link = fabric_.link(LinkId(i));
    if (link.from == *found_node || link.to == *found_node) found.links.emplace_back(i);
  }
  if (found.links.empty()) found.problem = fmt::format("'{}' has no links", name);
  return found;
}

}  // namespace ringwright::configs
