// How the network is probed for links that are down or lose packets: the settings of `ringwright probe`.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error_code.h"
#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

struct ProbingSettings {
  Duration interval{1'000'000'000};   // between two probes of one port of a NIC; the default is assumed
  int probes_per_path = 100;          // in a round
  int paths_per_port = 64;            // at most
  double threshold = 0.001;           // a cable is reported that loses more
  double penalty = 0.01;              // lambda of NetBouncer's model
  Duration analysis{1'000'000'000'000};  // from the end of a round to the report; the default is assumed
  int rounds = 10;                    // at most
  double loss = 1.0;                  // of the cable that is tried, where no fault is listed; 1: it is down
  int cables = 100;                   // that are tried then, at most
  int repetitions = 20;               // of each fault
  std::uint64_t seed = 1;
};

[[nodiscard]] ProbingSettings read_probing(ConfigMap root);

// Of probes, and of faults whose time follows from a simulated step.
[[nodiscard]] std::span<const ErrorCode> probing_error_codes();

}  // namespace ringwright::configs
