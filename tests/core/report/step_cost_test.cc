#include "core/report/step_cost.h"

#include <gtest/gtest.h>

namespace ringwright::step_cost_test {
namespace {

using namespace literals;

// 8 GPUs for a quarter of an hour are 2 GPU-hours; 10 kW for as long are 2.5 kWh, and with a PUE of 1.2 3 kWh.
constexpr CostedStep kStep{.time = 900_s, .gpus = 8, .tokens = 1'000'000};
constexpr CostRates kRates{.hosts = 1,
                           .usd_per_gpu_hour = 3.0,
                           .gpu_watts = 700.0,
                           .host_watts = 4400.0,
                           .power_usage = 1.2,
                           .usd_per_kwh = 0.1};

TEST(StepCost, AddsTheRentOfGpusAndTheirEnergy) {
  const StepCost cost = cost_of(kStep, kRates);
  EXPECT_DOUBLE_EQ(*cost.joules, 3.0 * 3.6e6);
  EXPECT_DOUBLE_EQ(*cost.usd, 6.0 + 0.3);
  EXPECT_DOUBLE_EQ(*cost.usd_per_tera_tokens, 6.3e6);
  EXPECT_DOUBLE_EQ(*cost.joules_per_token, 10.8);
  EXPECT_EQ(to_string(cost), "$6.3 per step, $6,300,000 per 1e12 tokens, 3 kWh per step, 10.8 J per token");
  EXPECT_EQ(to_string(cost, "samples"),
            "$6.3 per step, $6,300,000 per 1e12 samples, 3 kWh per step, 10.8 J per sample");
}

TEST(StepCost, HasThePowerOfTheNetwork) {
  CostRates rates = kRates;
  rates.network = NetworkCost{.switches = 2, .ports = 1'064, .transceivers = 3'000, .usd = 12'345.0, .watts = 5000.0};
  const StepCost cost = cost_of(kStep, rates);
  EXPECT_DOUBLE_EQ(*cost.joules, 4.5 * 3.6e6);  // 15 kW
  EXPECT_DOUBLE_EQ(*cost.usd, 6.0 + 0.45);      // it is not bought for one step
  EXPECT_EQ(to_string(*rates.network), "$12,345 to buy, 5 kW: 2 switches, 1,064 ports, 3,000 transceivers");
  EXPECT_EQ(to_string(NetworkCost{.switches = 1}), "1 switches, 0 ports, 0 transceivers");
}

TEST(StepCost, IsUnknownWithoutRates) {
  const StepCost cost = cost_of(kStep, {.hosts = 1});
  EXPECT_FALSE(cost.usd.has_value());
  EXPECT_FALSE(cost.joules.has_value());
  EXPECT_EQ(to_string(cost), "unknown: 'cost' names neither a price of GPUs nor power");
}

TEST(StepCost, APriceOfEnergyNeedsPower) {
  EXPECT_FALSE(cost_of(kStep, {.hosts = 1, .usd_per_kwh = 0.1}).usd.has_value());
  EXPECT_DOUBLE_EQ(*cost_of(kStep, {.hosts = 1, .host_watts = 4000.0, .usd_per_kwh = 0.1}).usd, 0.1);
}

}  // namespace
}  // namespace ringwright::step_cost_test
