#include "collectives/nccl/search/nics_left.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace ringwright::collectives {

std::vector<int> nics_left(const NcclHost& host, int nic_set) {
  std::vector<int> left;
  const NcclHost& own = host.of(nic_set);
  const int set = nic_set % kNicSetsOfKind;
  for (int device = 0; device < own.nics; ++device) {
    const int nic = device / own.ports;
    const bool missing = !host.missing_nics.empty() && std::ranges::count(host.missing_nics[at(set)], nic) > 0;
    if (!missing) left.push_back(device);
  }
  return left;
}

NcclHost with_nics(NcclHost host, const std::vector<int>& left) {
  std::vector<int> places;
  for (const int device : left) places.push_back(host.nic_at[at(device)]);
  host.nic_at = std::move(places);
  host.nics = static_cast<int>(left.size());
  return host;
}

}  // namespace ringwright::collectives
