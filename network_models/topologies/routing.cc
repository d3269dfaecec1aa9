// Reading the routing policy and the latencies of a fabric.
#include "network_models/topologies/routing.h"

#include <array>
#include <limits>
#include <string>

namespace ringwright::network_models {
namespace {

using namespace ringwright::literals;

struct PolicyRow {
  Option option;
  RoutingPolicy policy;
};

constexpr std::array kPolicies = {
    PolicyRow{{.name = "static", .doc = "uplink by the destination's port number in its rail: rails stay identical"},
              RoutingPolicy::kStatic},
    PolicyRow{{.name = "d_mod_k", .doc = "uplink by the destination's port number plus its rail"},
              RoutingPolicy::kDModK},
    PolicyRow{{.name = "ecmp", .doc = "uplink by a seeded hash of source, destination and queue pair"},
              RoutingPolicy::kEcmp},
    PolicyRow{{.name = "spray", .doc = "every path carries an equal share (packet spraying, ideal)"},
              RoutingPolicy::kSpray},
    PolicyRow{{.name = "central", .doc = "a controller gives each pair of the job the path with the fewest others"},
              RoutingPolicy::kEcmp},
};

constexpr std::array<Option, kPolicies.size()> kPolicyOptions = {kPolicies[0].option, kPolicies[1].option,
                                                                 kPolicies[2].option, kPolicies[3].option,
                                                                 kPolicies[4].option};

}  // namespace

Routing read_routing(ConfigMap& fabric) {
  ConfigMap map = fabric.map("routing", "which of several equal-cost paths a transfer takes");
  Routing routing;
  const std::string policy =
      map.choice({.name = "policy", .doc = "how an uplink is chosen", .fallback = "static"}, kPolicyOptions);
  for (const PolicyRow& row : kPolicies) {
    if (policy == row.option.name) routing.policy = row.policy;
  }
  routing.planned = policy == "central";
  const bool given = map.has("hash_seed") || map.has("queue_pairs");
  if (routing.policy == RoutingPolicy::kEcmp || given || map.documenting()) {
    routing.hash_seed = static_cast<std::uint64_t>(
        map.integer({.name = "hash_seed",
                     .doc = "seed of the switches' hash",
                     .fallback = 1,
                     .min = 0,
                     .max = std::numeric_limits<std::int64_t>::max()}));
    routing.queue_pairs = static_cast<int>(map.integer({.name = "queue_pairs",
                                                        .doc = "hashed paths that one connection is split over",
                                                        .fallback = 1,
                                                        .min = 1,
                                                        .max = kMaxQueuePairs}));
  }
  if (routing.policy != RoutingPolicy::kEcmp && given && !map.documenting()) {
    for (const char* key : {"hash_seed", "queue_pairs"}) map.ignore(key, "only the policies 'ecmp' and 'central' hash");
    routing.queue_pairs = 1;
  }
  return routing;
}

FabricLatency read_latency(ConfigMap& fabric, Duration node_nic_latency) {
  ConfigMap map = fabric.map("latency", "latencies of the fabric's components, one way");
  FabricLatency latency;
  latency.nic = map.duration({.name = "nic",
                              .doc = "through one NIC, at sender and receiver; default: the node's nic.latency",
                              .fallback = node_nic_latency});
  const auto assumed = [&map](std::string_view name, std::string_view doc, Duration fallback) {
    if (!map.documenting() && !map.has(name)) map.assume(name, to_string(fallback), "not given for this fabric");
    return map.duration({.name = name, .doc = doc, .fallback = fallback});
  };
  // Class values: an NDR InfiniBand switch forwards in about 230 ns, fibre takes 5 ns a metre.
  latency.hop = assumed("hop", "through one switch", 230_ns);
  latency.cable = assumed("cable", "along one cable (5 ns a metre)", 50_ns);
  return latency;
}

Host with_fabric_latency(ConfigMap& fabric, Host host) {
  if (host.others.empty() || !fabric.has("latency")) return host;
  if (!fabric.map("latency", "latencies of the fabric's components, one way").has("nic")) return host;
  for (Host& other : host.others) other.nic.latency = host.nic.latency;
  return host;
}

}  // namespace ringwright::network_models
