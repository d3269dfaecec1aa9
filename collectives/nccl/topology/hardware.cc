#include "collectives/nccl/topology/hardware.h"

#include <algorithm>
#include <tuple>

namespace ringwright::collectives {

const NcclHost& NcclHost::of(int nic_set) const {
  const auto kind = static_cast<std::size_t>(kind_of_host(nic_set));
  return kind == 0 || kind > others.size() ? *this : others[kind - 1];
}

const NcclHost& NcclHost::weakest_of(const GroupLayout& layout) const {
  if (others.empty()) return *this;
  const NcclHost* weakest = nullptr;
  for (int host = 0; host < layout.host_count(); ++host) {
    const NcclHost& candidate = of(layout.nic_set_of(host));
    const auto strength = [](const NcclHost& one) { return std::tuple(one.multicast, one.compute_capability); };
    if (weakest == nullptr || strength(candidate) < strength(*weakest)) weakest = &candidate;
  }
  return weakest == nullptr ? *this : *weakest;
}

}  // namespace ringwright::collectives
