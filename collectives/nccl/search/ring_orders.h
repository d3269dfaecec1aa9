// How rings and chains pass through a host whose GPUs are joined pairwise: on every kind of channel another way, so
// that together they load all pairs alike. NCCL finds such ways by search (graph/search.cc). Circles within one host
// use every lane once where its lanes part into such circles; elsewhere each channel takes the way that leaves the most
// loaded pair least loaded.
#pragma once

#include <vector>

#include "collectives/nccl/topology/hardware.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// By kind of channel: places of the group's members in their host, in the order of the way. Empty where any order does
// (switches, PCIe), where hosts are uneven, or where no way leads through all GPUs.
[[nodiscard]] std::vector<std::vector<int>> find_ring_orders(const NcclHost& host, const GroupLayout& layout,
                                                             int kinds);

}  // namespace ringwright::collectives
