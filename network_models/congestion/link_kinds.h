// What congestion control must know of a link besides its capacity: whether a switch, a NIC or the inside of a host
// sends on it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric.h"

namespace ringwright::network_models {

enum class LinkRole : std::uint8_t {
  kLossless,    // within a host, or between endpoints without a switch: credits, so that nothing queues
  kNicPort,     // from an endpoint into a switch of the fabric
  kSwitchPort,  // from a switch of the fabric: a queue that marks packets
};

struct LinkKind {
  static constexpr std::uint32_t kTiers = UINT32_MAX;

  LinkRole role = LinkRole::kLossless;
  // Equal for links that join the same kinds of nodes (leaf to spine); a path crosses them side by side or not at all.
  std::uint64_t tier = 0;
  std::uint32_t stands_for = 1;  // links of its class, in a folded run
  // The nodes it joins, where the switches have no tiers; kTiers where they have.
  std::uint32_t from = kTiers;
  std::uint32_t to = kTiers;
};

// By link id.
[[nodiscard]] std::vector<LinkKind> link_kinds(const Fabric& fabric);

}  // namespace ringwright::network_models
