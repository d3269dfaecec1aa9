// How fast the NICs of a group's hosts are, as a library measures them before a job: by kind of host, and with NICs
// that are degraded for the whole run.
#pragma once

#include <map>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// By layout and host, where the hosts of all of its groups are as fast as those of the first; bytes/s. Empty where all
// hosts are equally fast.
[[nodiscard]] std::map<const GroupLayout*, std::vector<double>> host_speeds_of_groups(const TaskGraph& graph,
                                                                                      const Scenario& scenario);

}  // namespace ringwright::configs
