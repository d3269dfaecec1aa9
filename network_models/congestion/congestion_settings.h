// How switches mark and pause, and how NICs answer: `simulate.congestion_control`.
#pragma once

#include <optional>

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::network_models {

// The reaction point of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015).
struct RateControl {
  bool reacts = true;                     // false: senders ignore marks
  double gain = 1.0 / 256;                // g
  Duration cnp_interval{50'000'000};      // tau: at most one CNP, and one cut, in this time
  Duration alpha_timer{55'000'000};       // tau'
  Duration rate_timer{55'000'000};        // T
  std::optional<Bytes> byte_counter;      // B; empty: 10 MB at 40 Gbit/s, in proportion to the line rate
  double fast_recovery = 5.0;             // F: increases before the target rises
  std::optional<Bandwidth> additive;      // R_AI; empty: a thousandth of the line rate, 40 Mbit/s at 40 Gbit/s
  Bytes packet{1024};
};

// Sizes that are not given are in proportion to the speed of the port.
struct SwitchBuffers {
  std::optional<Bytes> kmin;  // 5 KB at 40 Gbit/s
  std::optional<Bytes> kmax;  // 200 KB at 40 Gbit/s
  double pmax = 0.01;
  bool pauses = true;         // PFC
  std::optional<Bytes> xoff;  // 200 KB at 40 Gbit/s
  std::optional<Bytes> xon;   // half of xoff
};

struct CongestionSettings {
  RateControl rates;
  SwitchBuffers buffers;
  Duration step{1'000'000};  // of time, while queues or rates change
};

[[nodiscard]] CongestionSettings read_congestion_control(ConfigMap& simulate);

}  // namespace ringwright::network_models
