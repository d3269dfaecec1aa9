#include "configs/scenario/cost_settings.h"

#include <string>

#include <fmt/format.h>

#include "core/fabric/network_parts.h"

namespace ringwright::configs {
namespace {

struct OfPart {
  double usd = 0.0;
  double watts = 0.0;
};

// Counts the parts of the fabric only where prices or power are asked for.
std::optional<NetworkCost> read_network_cost(ConfigMap& cost, const Cluster& cluster) {
  if (!cost.has("network") && !cost.documenting()) return std::nullopt;
  ConfigMap map = cost.map("network", "price and power of the network between hosts, by its parts");
  const auto number = [&map](std::string_view name, std::string_view doc) {
    return map.number({.name = name, .doc = doc, .fallback = 0.0, .min = 0.0, .max = 1e6});
  };
  const OfPart of_switch{
      .usd = number("usd_per_switch", "price of a switch without its ports, in US dollars; 0: not given"),
      .watts = number("watts_per_switch", "electrical power in watts of a switch without its ports")};
  const OfPart port{.usd = number("usd_per_port", "price of a switch's port in use, in US dollars; 0: not given"),
                    .watts = number("watts_per_port", "electrical power in watts of a switch's port in use")};
  const OfPart transceiver{
      .usd = number("usd_per_transceiver", "price of one end of a cable and its half, in US dollars; 0: not given"),
      .watts = number("watts_per_transceiver", "electrical power in watts of one end of a cable")};
  if (map.documenting()) return NetworkCost{};
  const NetworkParts parts = network_parts(cluster.topology->build().fabric);
  if (parts.transceivers == 0) {
    cost.warn("network", "W131", cost.path_of("network") + " has no effect: there is no network between hosts");
    return std::nullopt;
  }
  const auto sum = [&](double OfPart::*value) {
    return static_cast<double>(parts.switches) * of_switch.*value + static_cast<double>(parts.ports) * port.*value +
           static_cast<double>(parts.transceivers) * transceiver.*value;
  };
  return NetworkCost{.switches = parts.switches,
                     .ports = parts.ports,
                     .transceivers = parts.transceivers,
                     .usd = sum(&OfPart::usd),
                     .watts = sum(&OfPart::watts)};
}

// Prices and watts that stand next to the name of a GPU, as in a preset, are of that GPU alone.
void read_gpu_of_cost(ConfigMap& cost, const Cluster& cluster) {
  if (!cost.has("gpu") && !cost.documenting()) return;
  const std::string gpu = cost.text(
      {.name = "gpu", .doc = "the GPU whose price and power stand next to it: a warning for others", .optional = true});
  const std::string has = cluster.gpu_names();
  if (cost.documenting() || has == gpu) return;
  const std::string file = cost.place("gpu").file;
  for (const std::string_view key : {"usd_per_gpu_hour", "gpu_watts"}) {
    if (!cost.has(key) || cost.place(key).file != file) continue;
    cost.warn(key, "E594",
              fmt::format("{} is of {}, and counts for every GPU of the cluster: {}", cost.path_of(key), gpu, has),
              fmt::format("give {} of these GPUs (of several kinds, the mean)", cost.path_of(key)));
  }
}

}  // namespace

std::optional<CostRates> read_cost(ConfigMap root, const Cluster& cluster) {
  if (!root.has("cost") && !root.documenting()) return std::nullopt;
  ConfigMap map =
      root.map("cost", "prices and electrical power, for the cost of a step; `preset` names a shipped list");
  CostRates rates{.hosts = cluster.hosts};
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
  read_gpu_of_cost(map, cluster);
  rates.network = read_network_cost(map, cluster);
  if (map.documenting()) return rates;
  const bool powered = rates.gpu_watts > 0.0 || rates.host_watts > 0.0 || (rates.network && rates.network->watts > 0.0);
  for (const std::string_view key : {"power_usage_effectiveness", "usd_per_kwh"}) {
    if (map.has(key) && !powered) map.warn(key, "W131", map.path_of(key) + " has no effect: no power is given");
  }
  return rates;
}

}  // namespace ringwright::configs
