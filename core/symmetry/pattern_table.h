// The patterns of calls in groups of one layout, made when first queried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "core/ports/communication_footprint.h"
#include "core/symmetry/edge_kinds.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/traffic.h"

namespace ringwright {

[[nodiscard]] std::uint64_t hash_of(const Contention& contention);

class PatternTable {
 public:
  // References outlive this. `calls`: those of Traffic.
  PatternTable(const TaskGraph& graph, const Choosers& choosers, const std::vector<DimensionCalls>& calls);

  // `calls`: index into the distinct ones.
  const KindPattern& of(RankId rank, std::size_t calls, EdgeKinds& kinds) {
    const Dimension& d = graph_.dimensions[calls_[calls].first.index()];
    return of_layout(d.layout_of_group[d.group_of[rank.index()]], calls, kinds);
  }
  const KindPattern& of_layout(std::uint32_t layout, std::size_t calls, EdgeKinds& kinds) {
    if (found_.empty()) return look_up(calls, layout, kinds);
    const KindPattern*& found = found_[calls * graph_.layouts.size() + layout];
    if (found == nullptr) found = &look_up(calls, layout, kinds);
    return *found;
  }

  // Dimensions with steps that wait for all members of a group.
  [[nodiscard]] const std::set<DimensionId>& everyone() const { return everyone_; }

 private:
  const KindPattern& look_up(std::size_t calls, std::uint32_t layout, EdgeKinds& kinds);

  const TaskGraph& graph_;
  Choosers choosers_;
  const std::vector<DimensionCalls>& calls_;
  std::map<std::pair<std::size_t, std::uint32_t>, KindPattern> patterns_;  // by calls and layout
  std::vector<const KindPattern*> found_;  // by the same, while these are few; else empty
  std::set<DimensionId> everyone_;
};

}  // namespace ringwright
