// What a training step costs in money and energy.
//
//   energy   step time x (GPUs x watts of a GPU + hosts x watts of the rest of a host + watts of the network) x PUE:
//            an upper bound, since data sheets state the power at full load
//   money    GPU-hours x price of a GPU-hour + kilowatt-hours x price of a kilowatt-hour
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace ringwright {

// The network between hosts: its switches and cables as a whole. 0: no price, or no power, is given.
struct NetworkCost {
  std::size_t switches = 0;
  std::size_t ports = 0;         // of switches, in use
  std::size_t transceivers = 0;  // one at each end of a cable
  double usd = 0.0;              // to buy; no part of the price of a step
  double watts = 0.0;
};

// 0: not given.
struct CostRates {
  std::int64_t hosts = 0;
  double usd_per_gpu_hour = 0.0;
  double gpu_watts = 0.0;
  double host_watts = 0.0;
  double power_usage = 1.0;
  double usd_per_kwh = 0.0;
  std::optional<NetworkCost> network = {};
};

struct StepCost {
  std::optional<double> usd;                  // of a step; empty where no price is given
  std::optional<double> usd_per_tera_tokens;  // of 1e12 tokens
  std::optional<double> joules;               // of a step; empty where no power is given
  std::optional<double> joules_per_token;
};

struct CostedStep {
  Duration time;
  std::size_t gpus = 0;
  std::int64_t tokens = 0;
};

[[nodiscard]] StepCost cost_of(const CostedStep& step, const CostRates& rates);

// "$12.3 per step, $1,234 per 1e12 tokens, 0.5 kWh per step, 0.8 J per token": those that are known; or of "samples".
[[nodiscard]] std::string to_string(const StepCost& cost, std::string_view processed = "tokens");
// "$1,556,480 to buy, 60.8 kW: 48 switches, 3,064 ports, 4,080 transceivers".
[[nodiscard]] std::string to_string(const NetworkCost& network);

}  // namespace ringwright
