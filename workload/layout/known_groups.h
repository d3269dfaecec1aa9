// The groups of an earlier step: the next step on the same ranks takes them over, instead of listing thousands of ranks
// in each of its dimensions.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/plan/task_graph.h"
#include "workload/layout/rank_layout.h"

namespace ringwright::workload {

class KnownGroups {
 public:
  // Takes the groups from a step that is no longer used.
  void keep(const ParallelOptions& parallel, TaskGraph& graph);
  // Gives them to dimensions of the same names without groups, with their layouts. False: they are others.
  [[nodiscard]] bool give(const ParallelOptions& parallel, std::vector<Dimension>& dimensions, GroupLayouts& layouts);

 private:
  // Whether groups follow from the layout of ranks alone.
  [[nodiscard]] static bool follow_from_layout(const ParallelOptions& parallel);

  std::optional<RankLayout> ranks_;  // empty: none are known
  std::vector<Dimension> dimensions_;
  GroupLayouts layouts_;
};

}  // namespace ringwright::workload
