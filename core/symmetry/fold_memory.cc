#include "core/symmetry/fold_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ringwright {
namespace {

// Numbers names in order of first appearance.
class Numbering {
 public:
  std::uint64_t of(std::uint64_t name) {
    if (name == last_ && !number_of_.empty()) return number_;
    last_ = name;
    number_ = number_of_.try_emplace(name, number_of_.size()).first->second;
    return number_;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> number_of_;
  std::uint64_t last_ = 0;  // nearly always also the next one
  std::uint64_t number_ = 0;
};

// The low 16 bits are left free.
std::uint64_t in_one(const MessageNics& nics) {
  const auto bits = [](std::int16_t number) { return std::uint64_t{static_cast<std::uint16_t>(number)}; };
  return bits(nics.out) << 48U | bits(nics.in) << 32U | bits(nics.relay) << 16U;
}

// Everything about a footprint that its partition depends on.
std::vector<std::uint64_t> likeness_of(const TaskGraph& graph, const Footprint& footprint) {
  std::vector<std::uint64_t> likeness;
  likeness.reserve(footprint.colour.size() + footprint.edges.size() + 3 * footprint.kinds.size());
  Numbering colours;
  for (std::size_t rank = 0; rank < footprint.colour.size(); ++rank) {
    const std::span<const Edge> edges = footprint.edges_of(RankId(rank));
    likeness.push_back((colours.of(footprint.colour[rank]) << 32U) | edges.size());
    for (const Edge& edge : edges) likeness.push_back((std::uint64_t{edge.peer.value} << 32U) | edge.kind);
  }
  Numbering roles;
  for (const EdgeKind& kind : footprint.kinds) {
    likeness.push_back(roles.of(kind.role));
    likeness.push_back((std::uint64_t{kind.shared_in} << 32U) | kind.label);
    likeness.push_back(in_one(kind.nics) |
                       (4 * static_cast<std::uint64_t>(kind.route_kind) + (kind.loads_links ? 2 : 0) +
                        (kind.starts_flow ? 1 : 0)));
  }
  for (const DimensionId dimension : footprint.everyone) {
    likeness.push_back(~std::uint64_t{0});
    for (const std::uint32_t group : graph.dimensions[dimension.index()].group_of) likeness.push_back(group);
  }
  const std::vector<bool> behind_job = background_behind_job(graph);
  for (std::size_t index = 0; index < behind_job.size(); ++index) {
    const BackgroundTransfer& transfer = graph.background[index];
    if (behind_job[index]) likeness.push_back((std::uint64_t{transfer.from.value} << 32U) | transfer.to.value);
  }
  return likeness;
}

}  // namespace

Folding FoldMemory::fold(const TaskGraph& graph, const Choosers& choosers, const Router& router) {
  const Footprint footprint = make_footprint(graph, choosers);
  std::vector<std::uint64_t> likeness = likeness_of(graph, footprint);
  const auto known = std::ranges::find(known_, likeness, &Known::likeness);
  if (known != known_.end()) {
    std::rotate(known, known + 1, known_.end());
    return known_.back().folding;
  }
  if (known_.size() == kKept) known_.erase(known_.begin());
  Folding folding = fold_footprint(graph, footprint, router);
  known_.push_back({.likeness = std::move(likeness), .folding = folding});
  return folding;
}

}  // namespace ringwright
