#include "core/symmetry/edge_kinds.h"

namespace ringwright {

std::uint32_t EdgeKinds::index_of(const EdgeKind& kind) {
  const auto [known, is_new] = index_of_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  return known->second;
}

KindPattern by_kind(MemberPattern pattern, DimensionId dimension, bool together, EdgeKinds& kinds) {
  KindPattern result;
  for (const std::vector<MemberEdge>& of_member : pattern.edges) {
    std::vector<KindPattern::Edge>& edges = result.edges.emplace_back();
    for (const MemberEdge& edge : of_member) {
      const std::uint32_t kind = kinds.index_of({.role = edge.role,
                                                 .label = channel_label(dimension, edge.channel),
                                                 .nics = edge.nics,
                                                 .route_kind = edge.route_kind,
                                                 .starts_flow = edge.starts_flow,
                                                 .shared_in = together ? dimension.value + 1 : 0,
                                                 .loads_links = edge.loads_links});
      edges.push_back({.peer = edge.peer, .kind = kind});
    }
  }
  pattern.edges.clear();
  result.all = std::move(pattern);
  return result;
}

}  // namespace ringwright
