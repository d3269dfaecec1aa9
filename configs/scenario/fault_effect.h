// What a fault leaves of a link: nothing, a part of its bandwidth, or a link that loses packets.
#pragma once

#include <string>

#include "core/config/config_map.h"

namespace ringwright::configs {

struct FaultEffect {
  double factor = 0.0;  // of the bandwidth that is left; 0: the link is down
  double loss = 0.0;    // of packets

  [[nodiscard]] bool is_down() const { return factor <= 0.0; }
  // "down", "at 0.25 of its bandwidth", "loses 0.1 % of its packets"
  [[nodiscard]] std::string text() const;
};

// `state`, `factor` and `loss` of a fault.
[[nodiscard]] FaultEffect read_fault_effect(ConfigMap& map);

}  // namespace ringwright::configs
