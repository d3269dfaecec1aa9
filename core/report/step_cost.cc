#include "core/report/step_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {
namespace {

constexpr double kJoulesPerKilowattHour = 3.6e6;

std::string dollars(double usd) {
  return usd < 9999.5 ? fmt::format("${:.4g}", usd) : "$" + with_commas(std::llround(std::min(usd, 1e18)));
}

}  // namespace

StepCost cost_of(const CostedStep& step, const CostRates& rates) {
  StepCost cost;
  const double seconds = to_seconds(step.time);
  const auto gpus = static_cast<double>(step.gpus);
  const double of_network = rates.network ? rates.network->watts : 0.0;
  const double watts = gpus * rates.gpu_watts + static_cast<double>(rates.hosts) * rates.host_watts + of_network;
  if (watts > 0.0) cost.joules = seconds * watts * rates.power_usage;
  if (rates.usd_per_gpu_hour > 0.0 || (cost.joules && rates.usd_per_kwh > 0.0)) {
    const double energy = cost.joules.value_or(0.0) / kJoulesPerKilowattHour;
    cost.usd = gpus * seconds / 3600.0 * rates.usd_per_gpu_hour + energy * rates.usd_per_kwh;
  }
  if (step.tokens <= 0) return cost;
  const auto tokens = static_cast<double>(step.tokens);
  if (cost.usd) cost.usd_per_tera_tokens = *cost.usd / tokens * 1e12;
  if (cost.joules) cost.joules_per_token = *cost.joules / tokens;
  return cost;
}

std::string to_string(const StepCost& cost, std::string_view processed) {
  std::vector<std::string> parts;
  if (cost.usd) parts.push_back(dollars(*cost.usd) + " per step");
  if (cost.usd_per_tera_tokens)
    parts.push_back(fmt::format("{} per 1e12 {}", dollars(*cost.usd_per_tera_tokens), processed));
  if (cost.joules) parts.push_back(fmt::format("{:.4g} kWh per step", *cost.joules / kJoulesPerKilowattHour));
  if (cost.joules_per_token)
    parts.push_back(fmt::format("{:.4g} J per {}", *cost.joules_per_token, processed.substr(0, processed.size() - 1)));
  return parts.empty() ? "unknown: 'cost' names neither a price of GPUs nor power" : join(parts, ", ");
}

std::string to_string(const NetworkCost& network) {
  std::vector<std::string> sums;
  if (network.usd > 0.0) sums.push_back(dollars(network.usd) + " to buy");
  if (network.watts > 0.0) sums.push_back(fmt::format("{:.4g} kW", network.watts / 1000.0));
  const auto count = [](std::size_t n) { return with_commas(static_cast<long long>(n)); };
  return fmt::format("{}{}{} switches, {} ports, {} transceivers", join(sums, ", "), sums.empty() ? "" : ": ",
                     count(network.switches), count(network.ports), count(network.transceivers));
}

}  // namespace ringwright
