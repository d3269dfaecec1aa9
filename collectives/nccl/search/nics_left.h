// The NICs that a host has left where some hosts lack a few.
#pragma once

#include <vector>

#include "collectives/nccl/topology/hardware.h"

namespace ringwright::collectives {

// Of hosts of one set: the network devices (NICs, or their ports where each is one) that they do not lack.
[[nodiscard]] std::vector<int> nics_left(const NcclHost& host, int nic_set);

// A host with these network devices only, which count from 0.
[[nodiscard]] NcclHost with_nics(NcclHost host, const std::vector<int>& left);

}  // namespace ringwright::collectives
