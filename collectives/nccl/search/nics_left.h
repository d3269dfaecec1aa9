// The remaining NICs of hosts on which some are missing.
#pragma once

#include <vector>

#include "collectives/nccl/topology/hardware.h"

namespace ringwright::collectives {

// For hosts of one set: the network devices (NICs, or their ports where each is a device) that are present.
[[nodiscard]] std::vector<int> nics_left(const NcclHost& host, int nic_set);

// A host with these network devices only, numbered from 0.
[[nodiscard]] NcclHost with_nics(NcclHost host, const std::vector<int>& left);

}  // namespace ringwright::collectives
