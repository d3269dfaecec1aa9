#include "configs/scenario/cost_settings.h"

namespace ringwright::configs {

std::optional<CostRates> read_cost(ConfigMap root, std::int64_t hosts) {
  if (!root.has("cost") && !root.documenting()) return std::nullopt;
  ConfigMap map =
      root.map("cost", "prices and electrical power, for the cost of a step; `preset` names a shipped list");
  CostRates rates{.hosts = hosts};
  rates.usd_per_gpu_hour = map.number({.name = "usd_per_gpu_hour",
                                       .doc = "price of one GPU for an hour, in US dollars; 0: not given",
                                       .fallback = 0.0,
                                       .min = 0.0,
                                       .max = 1e6});
  rates.gpu_watts = map.number({.name = "gpu_watts",
                                .doc = "electrical power of one GPU in watts; 0: not given",
                                .fallback = 0.0,
                                .min = 0.0,
                                .max = 1e6});
  rates.host_watts = map.number({.name = "host_watts",
                                 .doc = "electrical power in watts of a host without its GPUs",
                                 .fallback = 0.0,
                                 .min = 0.0,
                                 .max = 1e7});
  rates.power_usage = map.number({.name = "power_usage_effectiveness",
                                  .doc = "energy of the whole data centre for each joule of its computers (PUE)",
                                  .fallback = 1.0,
                                  .min = 1.0,
                                  .max = 10.0});
  rates.usd_per_kwh = map.number({.name = "usd_per_kwh",
                                  .doc = "price of a kilowatt-hour in US dollars, paid in addition to the GPU-hours",
                                  .fallback = 0.0,
                                  .min = 0.0,
                                  .max = 1000.0});
  if (map.documenting()) return rates;
  const bool powered = rates.gpu_watts > 0.0 || rates.host_watts > 0.0;
  for (const std::string_view key : {"power_usage_effectiveness", "usd_per_kwh"}) {
    if (map.has(key) && !powered) map.warn(key, "W131", map.path_of(key) + " has no effect: no power is given");
  }
  return rates;
}

}  // namespace ringwright::configs
