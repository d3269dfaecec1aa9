#include "core/fabric/network_parts.h"

namespace ringwright {
namespace {

bool is_switch_of_network(NodeKind kind) {
  return kind == NodeKind::kLeaf || kind == NodeKind::kSpine || kind == NodeKind::kCore || kind == NodeKind::kSwitch;
}

}  // namespace

// Every cable is two links, one in each direction, so that links count the ends of cables at which they arrive.
NetworkParts network_parts(const Fabric& fabric) {
  NetworkParts parts;
  for (std::size_t n = 0; n < fabric.node_count(); ++n) {
    if (is_switch_of_network(fabric.node(NodeId(n)).kind)) ++parts.switches;
  }
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const LinkSpec& link = fabric.link(LinkId(l));
    const bool at_switch = is_switch_of_network(fabric.node(link.to).kind);
    const bool from_switch = is_switch_of_network(fabric.node(link.from).kind);
    const bool nics = fabric.node(link.to).kind == NodeKind::kNic && fabric.node(link.from).kind == NodeKind::kNic;
    if (at_switch) ++parts.ports;
    if (at_switch || from_switch || nics) ++parts.transceivers;
  }
  return parts;
}

}  // namespace ringwright
