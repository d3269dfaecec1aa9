#include "network_models/congestion/link_kinds.h"

namespace ringwright::network_models {
namespace {

bool queues(NodeKind kind) {
  return kind == NodeKind::kLeaf || kind == NodeKind::kSpine || kind == NodeKind::kCore || kind == NodeKind::kSwitch;
}

}  // namespace

std::vector<LinkKind> link_kinds(const Fabric& fabric) {
  constexpr std::uint64_t kKinds = 256;
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
    // The switches of an explicit graph have no tiers: a path may cross several in a row.
    if (from == NodeKind::kSwitch && to == NodeKind::kSwitch) kind.tier = kKinds * kKinds + l;
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace ringwright::network_models
