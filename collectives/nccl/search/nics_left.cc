#include "collectives/nccl/search/nics_left.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace ringwright::collectives {

std::vector<int> nics_left(const NcclHost& host, int nic_set) {
  std::vector<int> left;
  for (int device = 0; device < host.nics; ++device) {
    const int nic = device / host.ports;
    const bool missing = !host.missing_nics.empty() && std::ranges::count(host.missing_nics[at(nic_set)], nic) > 0;
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
