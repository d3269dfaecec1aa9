// What reading a machine reports without refusing it, for commands that print their own list of keys without effect.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

// Warnings, without those that say what the list of keys without effect says as well.
[[nodiscard]] Diagnostics unlisted_warnings(const Scenario& scenario);

// The cluster of a file, the rest of which may be missing, and what its reader reports.
struct DescribedCluster {
  Cluster cluster;
  Diagnostics warnings;
};
[[nodiscard]] Result<DescribedCluster> describe_cluster(const std::string& path, const ScenarioOptions& options = {});

}  // namespace ringwright::configs
