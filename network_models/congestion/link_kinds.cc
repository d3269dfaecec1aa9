#include "network_models/congestion/link_kinds.h"

namespace ringwright::network_models {
namespace {

bool queues(NodeKind kind) {
  return kind == NodeKind::kLeaf || kind == NodeKind::kSpine || kind == NodeKind::kCore || kind == NodeKind::kSwitch;
}

// Switches of one kind that are joined to each other (dragonfly, torus, explicit graph): a path may cross several in a
// row, and paths of one transfer may have different lengths.
bool has_tiers(const Fabric& fabric) {
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const LinkSpec& link = fabric.link(LinkId(l));
    const NodeKind from = fabric.node(link.from).kind;
    if (queues(from) && from == fabric.node(link.to).kind) return false;
  }
  return true;
}

}  // namespace

std::vector<LinkKind> link_kinds(const Fabric& fabric) {
  constexpr std::uint64_t kKinds = 256;
  const bool tiers = has_tiers(fabric);
  std::vector<LinkKind> kinds;
  kinds.reserve(fabric.link_count());
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const LinkSpec& link = fabric.link(LinkId(l));
    const NodeKind from = fabric.node(link.from).kind;
    const NodeKind to = fabric.node(link.to).kind;
    LinkKind kind{.role = LinkRole::kLossless,
                  .tier = static_cast<std::uint64_t>(from) * kKinds + static_cast<std::uint64_t>(to)};
    if (queues(from)) {
      kind.role = LinkRole::kSwitchPort;
    } else if (queues(to)) {
      kind.role = LinkRole::kNicPort;
    }
    if (!tiers) {
      kind.from = link.from.value;
      kind.to = link.to.value;
      kind.tier = kKinds * kKinds + l;  // of no class with other links: its nodes are its own
    }
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace ringwright::network_models
