// The channels of RCCL in one host: RCCL has predefined rings for the hosts of AMD's GPUs, which load all lanes equally
// (graph/rome_models.cc). Their number and bandwidth follow from the capacity of the links.
#pragma once

#include <vector>

#include "collectives/nccl/search/graph.h"

namespace ringwright::collectives {

// `members`: positions of the communicator's GPUs in the host, ascending.
[[nodiscard]] NcclGraphs find_rccl_graphs(const NcclHost& host, const std::vector<int>& members,
                                          const NcclTables& tables, bool several_hosts);

}  // namespace ringwright::collectives
