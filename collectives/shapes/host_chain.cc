#include "collectives/shapes/host_chain.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/shapes/channel_ring.h"
#include "core/base/index.h"

namespace ringwright::collectives {
int HostChains::member_at(int kind, const Spot& spot) const {
  const std::vector<int>& members = layout_.hosts[at(spot.host)];
  const int size = static_cast<int>(members.size());
  if (const HostPath* const path = path_of(plan_, kind, spot.host)) return members[at(path->order[at(spot.place)])];
  return members[at((spot.place + first_place(kind, size)) % size)];
}

int HostChains::place_of(int kind, int member) const {
  const int host = layout_.host_of[at(member)];
  const int size = static_cast<int>(layout_.hosts[at(host)].size());
  const int place = layout_.place_in_host[at(member)];
  if (const HostPath* const path = path_of(plan_, kind, host)) {
    return static_cast<int>(std::ranges::find(path->order, place) - path->order.begin());
  }
  return (place - first_place(kind, size) + size) % size;
}

}  // namespace ringwright::collectives
