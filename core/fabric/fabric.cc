#include "core/fabric/fabric.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace ringwright {
namespace {

constexpr std::array kKinds = {NodeKind::kGpu,         NodeKind::kNvSwitch,   NodeKind::kPcieSwitch,
                               NodeKind::kRootComplex, NodeKind::kHostMemory, NodeKind::kNic,
                               NodeKind::kLeaf,        NodeKind::kSpine,      NodeKind::kCore,
                               NodeKind::kSwitch,      NodeKind::kStorage};

}  // namespace

std::string_view to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::kGpu: return "gpu";
    case NodeKind::kNvSwitch: return "nvswitch";
    case NodeKind::kPcieSwitch: return "pcie";
    case NodeKind::kRootComplex: return "cpu";
    case NodeKind::kHostMemory: return "dram";
    case NodeKind::kNic: return "nic";
    case NodeKind::kLeaf: return "leaf";
    case NodeKind::kSpine: return "spine";
    case NodeKind::kCore: return "core";
    case NodeKind::kSwitch: return "switch";
    case NodeKind::kStorage: return "storage";
  }
  return "";
}

std::optional<NodeKind> parse_node_kind(std::string_view text) {
  for (const NodeKind kind : kKinds) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

bool is_switch(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNvSwitch:
    case NodeKind::kPcieSwitch:
    case NodeKind::kLeaf:
    case NodeKind::kSpine:
    case NodeKind::kCore:
    case NodeKind::kSwitch: return true;
    case NodeKind::kGpu:
    case NodeKind::kRootComplex:
    case NodeKind::kHostMemory:
    case NodeKind::kNic:
    case NodeKind::kStorage: return false;
  }
  return false;
}

NodeId Fabric::add_node(const NodeSpec& spec) {
  nodes_.push_back(spec);
  return NodeId(nodes_.size() - 1);
}

NodeId Fabric::add_named_node(NodeKind kind, std::string name) {
  const NodeId id = add_node({.kind = kind});
  given_names_.resize(nodes_.size());
  given_names_[id.index()] = std::move(name);
  return id;
}

LinkId Fabric::add_link(const LinkSpec& spec) {
  CHECK(spec.from.index() < nodes_.size() && spec.to.index() < nodes_.size(), "a link joins two nodes of the fabric");
  CHECK(spec.bandwidth.count() > 0.0, "a link has a positive bandwidth");
  links_.push_back(spec);
  capacities_.push_back(spec.bandwidth);
  return LinkId(links_.size() - 1);
}

LinkId Fabric::add_duplex(const LinkSpec& spec) {
  const LinkId there = add_link(spec);
  LinkSpec back = spec;
  std::swap(back.from, back.to);
  add_link(back);
  return there;
}

std::string Fabric::name(NodeId id) const {
  if (id.index() < given_names_.size() && !given_names_[id.index()].empty()) return given_names_[id.index()];
  const NodeSpec& spec = node(id);
  const std::string_view kind = to_string(spec.kind);
  const bool in_host = !is_switch(spec.kind) || spec.kind == NodeKind::kNvSwitch || spec.kind == NodeKind::kPcieSwitch;
  if (spec.first < 0) return fmt::format("{}{}", kind, id.index());
  if (in_host) {
    return spec.second < 0 ? fmt::format("host{}/{}", spec.first, kind)
                           : fmt::format("host{}/{}{}", spec.first, kind, spec.second);
  }
  return spec.second < 0 ? fmt::format("{}{}", kind, spec.first)
                         : fmt::format("{}{}.{}", kind, spec.first, spec.second);
}

std::string Fabric::name(LinkId id) const {
  return name(link(id).from) + "->" + name(link(id).to);
}

}  // namespace ringwright
