// NCCL's channels in the form of plans: the path of each kind of channel through each host of a communicator, and the
// NICs by which it enters and leaves.
#pragma once

#include <vector>

#include "collectives/nccl/search/graph.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// As in CollectivePlan. Channels are of one kind if their rings and chains take the same path through every host.
struct HostPaths {
  std::vector<std::vector<HostPath>> paths;
  std::vector<int> kind_of_host;
};

// For rings and chains on `channels` channels; channels beyond the number of paths start over at the first. Empty for
// other algorithms, for unknown paths (RCCL), and where a GPU of the path is missing on a host.
[[nodiscard]] HostPaths host_paths(const NcclHost& host, const NcclGraphs& graphs, NcclAlgorithm algorithm,
                                   const GroupLayout& layout, int channels);

// Whether the busiest NIC of a host carries another share of the paths than of one ring for each member that leaves by
// its own: where a group has few of a host's GPUs NCCL takes further NICs, or all equally, or one for all.
[[nodiscard]] bool spread_over_nics(const HostPaths& found, const NcclHost& host, const GroupLayout& layout);

}  // namespace ringwright::collectives
