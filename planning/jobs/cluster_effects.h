// Keys of a cluster over days that were given and change nothing, with the policies and jobs that the file has.
#pragma once

#include "core/config/config_log.h"
#include "planning/jobs/cluster_file.h"

namespace ringwright::planning {

// Adds them to the log.
void list_cluster_keys_without_effect(const ClusterPlan& plan, ConfigLog& log);

}  // namespace ringwright::planning
