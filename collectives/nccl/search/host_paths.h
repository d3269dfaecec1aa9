// The channels of NCCL's graphs as plans have them: which way each kind of channel passes through each host of a group,
// and by which NICs it comes and goes.
#pragma once

#include <vector>

#include "collectives/nccl/search/graph.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// As in CollectivePlan. Channels are of one kind where their rings and their chains take one path through every host.
struct HostPaths {
  std::vector<std::vector<HostPath>> paths;
  std::vector<int> kind_of_host;
};

// Of rings and chains on `channels` channels, as many of which begin again at the first path as there are too few.
// Empty for other algorithms, where no paths are known (RCCL), and where a host lacks a GPU of its path.
[[nodiscard]] HostPaths host_paths(const NcclHost& host, const NcclGraphs& graphs, NcclAlgorithm algorithm,
                                   const GroupLayout& layout, int channels);

}  // namespace ringwright::collectives
