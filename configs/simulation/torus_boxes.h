// Groups on a torus of hosts: which of them fill whole rows, planes or the whole of it, so that rings along its sides
// serve them.
#pragma once

#include <map>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// By layout, where all of its groups fill boxes of the same sides; the first side counts fastest. Empty elsewhere.
[[nodiscard]] std::map<const GroupLayout*, std::vector<int>> boxes_of_groups(const TaskGraph& graph,
                                                                             const Cluster& cluster);

}  // namespace ringwright::configs
