// The channels of RCCL in one host: RCCL knows the hosts of AMD's GPUs and brings rings for each, which use all lanes
// alike (graph/rome_models.cc). How many there are and what they carry follows from what the links hold.
#pragma once

#include <vector>

#include "collectives/nccl/search/graph.h"

namespace ringwright::collectives {

// `members`: places of the group's GPUs in the host, ascending.
[[nodiscard]] NcclGraphs find_rccl_graphs(const NcclHost& host, const std::vector<int>& members,
                                          const NcclTables& tables, bool several_hosts);

}  // namespace ringwright::collectives
