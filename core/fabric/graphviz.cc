// A drawing of a fabric: one undirected edge for all links between two nodes, labelled with their number and speed.
#include "core/fabric/graphviz.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ringwright {
namespace {

std::string_view shape_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kGpu: return "box";
    case NodeKind::kNic: return "cds";
    case NodeKind::kHostMemory:
    case NodeKind::kStorage: return "cylinder";
    case NodeKind::kRootComplex: return "octagon";
    case NodeKind::kPcieSwitch: return "trapezium";
    case NodeKind::kNvSwitch:
    case NodeKind::kLeaf:
    case NodeKind::kSpine:
    case NodeKind::kCore:
    case NodeKind::kSwitch: return "ellipse";
  }
  return "ellipse";
}

// Nodes inside hosts have the host number first; network switches are outside of hosts.
bool in_host(NodeKind kind) {
  return !is_switch(kind) || kind == NodeKind::kNvSwitch || kind == NodeKind::kPcieSwitch;
}

// The switches above the chosen hosts, tier by tier: a switch is included when a node of the tier below is.
std::vector<char> choose_part(const Fabric& fabric, std::size_t hosts) {
  std::vector<char> chosen(fabric.node_count(), 0);
  for (std::size_t i = 0; i < fabric.node_count(); ++i) {
    const NodeSpec& node = fabric.node(NodeId(i));
    chosen[i] = in_host(node.kind) && node.first >= 0 && static_cast<std::size_t>(node.first) < hosts ? 1 : 0;
  }
  for (const NodeKind tier : {NodeKind::kLeaf, NodeKind::kSwitch, NodeKind::kSpine, NodeKind::kCore}) {
    std::vector<char> next = chosen;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
      const LinkSpec& link = fabric.link(LinkId(i));
      if (fabric.node(link.to).kind == tier && chosen[link.from.index()] != 0) next[link.to.index()] = 1;
    }
    chosen = std::move(next);
  }
  return chosen;
}

struct Edge {
  std::size_t forth = 0;  // links towards the node with the higher number
  std::size_t back = 0;
  Bandwidth bandwidth;  // of one of them
};

}  // namespace

std::string graphviz(const Fabric& fabric, const DrawingLimits& limits) {
  const bool whole = fabric.node_count() <= limits.max_nodes;
  const std::vector<char> chosen =
      whole ? std::vector<char>(fabric.node_count(), 1) : choose_part(fabric, limits.hosts_of_part);
  std::string text = "graph fabric {\n  rankdir=BT;\n  node [fontsize=10];\n";
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < fabric.node_count(); ++i) {
    if (chosen[i] == 0) continue;
    ++drawn;
    text += fmt::format("  n{} [label=\"{}\", shape={}];\n", i, fabric.name(NodeId(i)),
                        shape_of(fabric.node(NodeId(i)).kind));
  }
  std::map<std::pair<std::size_t, std::size_t>, Edge> edges;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    if (chosen[link.from.index()] == 0 || chosen[link.to.index()] == 0) continue;
    const auto [low, high] = std::minmax({link.from.index(), link.to.index()});
    Edge& edge = edges[{low, high}];
    ++(link.from < link.to ? edge.forth : edge.back);
    edge.bandwidth = link.bandwidth;
  }
  for (const auto& [ends, edge] : edges) {
    const std::size_t links = std::max(edge.forth, edge.back);
    const std::string times = links > 1 ? fmt::format("{} x ", links) : "";
    text += fmt::format("  n{} -- n{} [label=\"{}{}\"];\n", ends.first, ends.second, times, to_string(edge.bandwidth));
  }
  if (!whole) {
    text += fmt::format("  label=\"{} of {} nodes: the first {} hosts and the switches above them\";\n", drawn,
                        fabric.node_count(), limits.hosts_of_part);
  }
  return text + "}\n";
}

}  // namespace ringwright
