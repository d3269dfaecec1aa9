// The block `interference` of a scenario: by how much computing and communication on one GPU slow each other.
#pragma once

#include "core/config/config_map.h"

namespace ringwright::configs {

struct InterferenceSettings {
  bool counts = false;           // false: neither slows the other
  int sms_per_channel = 1;       // multiprocessors that a channel's thread block occupies
  double bytes_per_copied = 2.0;   // device memory traffic for each byte that a thread block copies
  double bytes_per_reduced = 3.0;  // the same where it reduces
  double streaming_share = 0.5;  // of all multiprocessors, enough to saturate device memory bandwidth
  double loaded_latency = 2.4;   // of a load while kernels saturate device memory, relative to an idle memory
};

// Of `interference`. Mistakes are recorded in the map.
[[nodiscard]] InterferenceSettings read_interference(ConfigMap root);

}  // namespace ringwright::configs
