// Whether and how well the switches of a fabric add up what hosts send through them (SHARP), as `cluster.fabric` says.
#pragma once

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::network_models {

struct SwitchSums {
  bool enabled = false;
  Duration latency;  // of the switches' sums, beside the way there and back
  Bandwidth rate;    // of what one NIC sends
};

[[nodiscard]] SwitchSums read_switch_sums(ConfigMap& fabric, Bandwidth nic);

}  // namespace ringwright::network_models
