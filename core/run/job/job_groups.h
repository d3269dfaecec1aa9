// The groups of a job's ranks, as one class of ranks sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/collective_call.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"

namespace ringwright {

struct JobGroups {
  const TaskGraph& graph;
  const RankClasses& classes;

  [[nodiscard]] RankId rank_of(ClassId rank_class) const { return classes.representative[rank_class.index()]; }
  [[nodiscard]] const std::vector<RankId>& group_of(ClassId rank_class, DimensionId dimension) const {
    const Dimension& d = graph.dimensions[dimension.index()];
    return d.groups[d.group_of[rank_of(rank_class).index()]];
  }
  [[nodiscard]] int index_in_group(ClassId rank_class, DimensionId dimension) const {
    const Dimension& d = graph.dimensions[dimension.index()];
    return static_cast<int>(d.index_in_group[rank_of(rank_class).index()]);
  }
  [[nodiscard]] std::uint32_t layout_of(ClassId rank_class, DimensionId dimension) const {
    const Dimension& d = graph.dimensions[dimension.index()];
    return d.layout_of_group[d.group_of[rank_of(rank_class).index()]];
  }
  // The collective that a class's task asks for.
  [[nodiscard]] CollectiveCall call_of(ClassId rank_class, const Task& collective) const {
    const CollectiveSpec& spec = graph.collectives[collective.detail];
    return {.kind = spec.kind,
            .bytes = spec.bytes,
            .layout = &graph.layouts[layout_of(rank_class, collective.dimension)],
            .dimension = collective.dimension};
  }
  // The class of the member with this index in the class's group.
  [[nodiscard]] ClassId class_of_member(ClassId rank_class, DimensionId dimension, int member) const {
    const RankId rank = group_of(rank_class, dimension)[static_cast<std::size_t>(member)];
    return classes.class_of[rank.index()];
  }
};

}  // namespace ringwright
