// Which classes of ranks go through a segment together: those that its collectives connect, directly or over others.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"

namespace ringwright {

// Whether all members of the class's group in the dimension are of that class.
[[nodiscard]] bool is_among_equals(const TaskGraph& graph, const RankClasses& classes, ClassId c,
                                   DimensionId dimension);

class PassGroups {
 public:
  PassGroups(const TaskGraph& graph, const RankClasses& classes);

  // The classes of the group of this one, in ascending order.
  [[nodiscard]] std::span<const ClassId> members(std::uint32_t segment, ClassId c) const {
    const Partition& partition = partitions_[partition_of_[segment]];
    return partition.groups[partition.group_of[c.index()]];
  }

 private:
  struct Partition {
    std::vector<std::uint32_t> group_of;  // by class
    std::vector<std::vector<ClassId>> groups;
  };
  [[nodiscard]] static Partition connected_by(const std::set<DimensionId>& dimensions, const TaskGraph& graph,
                                              const RankClasses& classes);

  std::vector<std::uint32_t> partition_of_;  // by segment
  std::vector<Partition> partitions_;
};

}  // namespace ringwright
