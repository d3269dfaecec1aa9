// Whether and how fast the switches of a fabric reduce the hosts' data (SHARP), as set in `cluster.fabric`.
#pragma once

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::network_models {

struct SwitchSums {
  bool enabled = false;
  Duration latency;  // of the switches' sums, without the path there and back
  Bandwidth rate;    // of what one NIC sends
};

[[nodiscard]] SwitchSums read_switch_sums(ConfigMap& fabric, Bandwidth nic);

}  // namespace ringwright::network_models
