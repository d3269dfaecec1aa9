// The ring order of a group's members: all members of a host in sequence, then the next host, as in NCCL's rings.
#pragma once

#include <cstddef>

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// `value` modulo `modulus`, in 0..modulus-1 for negative values too.
[[nodiscard]] constexpr int wrap(int value, int modulus) {
  const int rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

[[nodiscard]] inline int position_of(const CollectiveCall& call, int member) {
  return call.layout->position[static_cast<std::size_t>(member)];
}
// The member at a position; any whole number, modulo the ring size.
[[nodiscard]] inline int member_at(const CollectiveCall& call, int position) {
  return call.layout->host_order[static_cast<std::size_t>(wrap(position, call.size()))];
}
[[nodiscard]] inline int host_of(const CollectiveCall& call, int member) {
  return call.layout->host_of[static_cast<std::size_t>(member)];
}
[[nodiscard]] inline int place_of(const CollectiveCall& call, int member) {
  return call.layout->place_in_host[static_cast<std::size_t>(member)];
}
[[nodiscard]] inline int host_size(const CollectiveCall& call, int host) {
  return static_cast<int>(call.layout->hosts[static_cast<std::size_t>(host)].size());
}
[[nodiscard]] inline int member_on(const CollectiveCall& call, int host, int place) {
  return call.layout->hosts[static_cast<std::size_t>(host)][static_cast<std::size_t>(place)];
}

}  // namespace ringwright::collectives
