// Paths of rings and chains through a host whose GPUs are connected pairwise: a different path for every kind of
// channel, so that together they load all pairs equally. NCCL finds such paths by search (graph/search.cc). Rings
// within one host use every lane once where the lanes decompose into rings; elsewhere each channel takes the path that
// minimises the highest load of a pair.
#pragma once

#include <vector>

#include "collectives/nccl/topology/hardware.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// By kind of channel: positions of the communicator's members in their host, in path order. Empty where any order works
// (switches, PCIe), where hosts are uneven, or where no path visits all GPUs.
[[nodiscard]] std::vector<std::vector<int>> find_ring_orders(const NcclHost& host, const GroupLayout& layout,
                                                             int kinds);

}  // namespace ringwright::collectives
