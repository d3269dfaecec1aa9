// Groups on a torus of hosts: finds those that fill whole rows, planes or the whole torus, so that rings along its
// sides can be used.
#pragma once

#include <map>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// By layout, where all of its groups fill boxes of the same sides; the first side varies fastest. Empty elsewhere.
[[nodiscard]] std::map<const GroupLayout*, std::vector<int>> boxes_of_groups(const TaskGraph& graph,
                                                                             const Cluster& cluster);

}  // namespace ringwright::configs
