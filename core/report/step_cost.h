// What a training step costs in money and energy.
//
//   energy   step time x (GPUs x watts of a GPU + hosts x watts of the rest of a host) x PUE: an upper bound, since
//            data sheets state the power at full load
//   money    GPU-hours x price of a GPU-hour + kilowatt-hours x price of a kilowatt-hour
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/units.h"

namespace ringwright {

// 0: not given.
struct CostRates {
  std::int64_t hosts = 0;
  double usd_per_gpu_hour = 0.0;
  double gpu_watts = 0.0;
  double host_watts = 0.0;
  double power_usage = 1.0;
  double usd_per_kwh = 0.0;
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

// "$12.3 per step, $1,234 per 1e12 tokens, 0.5 kWh per step, 0.8 J per token": those that are known.
[[nodiscard]] std::string to_string(const StepCost& cost);

}  // namespace ringwright
