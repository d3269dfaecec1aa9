// The routing policy of a switched fabric: which of several equal-cost paths a transfer takes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/random.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"

namespace ringwright::network_models {

enum class RoutingPolicy : std::uint8_t {
  kStatic,  // by the destination's port number in its rail ("node-mod"): all rails are identical
  kDModK,   // by the destination's port number plus its rail: spreads rails over the spines, at the price of symmetry
  kEcmp,    // by a seeded hash of (from, to, label)
  kSpray,   // an equal share over every path
};

struct Routing {
  RoutingPolicy policy = RoutingPolicy::kStatic;
  std::uint64_t hash_seed = 0;
  bool planned = false;  // kEcmp: the labels that are hashed are chosen for the job (central_router.h)
  int queue_pairs = 1;  // kEcmp: a connection is split evenly over this many hashed paths
};

inline constexpr int kMaxQueuePairs = 64;

// `cluster.fabric.routing`.
[[nodiscard]] Routing read_routing(ConfigMap& fabric);

// The hash of one flow's header; queue pairs differ in their source port as labels do.
[[nodiscard]] constexpr std::uint64_t flow_hash(const RouteQuery& query, std::uint64_t seed, std::uint32_t queue_pair) {
  const std::uint64_t ends = (std::uint64_t{query.from.value} << 32U) | query.to.value;
  const std::uint64_t port = (std::uint64_t{query.label} << 32U) | queue_pair;
  return mix(mix(seed, ends), port);
}

// A number below `bound` out of 32 bits of a hash, without a division.
[[nodiscard]] constexpr std::uint32_t pick(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32U);
}

// Latencies of the components of a fabric, `cluster.fabric.latency`.
struct FabricLatency {
  Duration nic;    // through one NIC; on the link that leaves the sender's, and on the one that enters the receiver's
  Duration hop;    // through one switch; on the link that leaves it
  Duration cable;  // along one cable; on that link
};

[[nodiscard]] FabricLatency read_latency(ConfigMap& fabric, Duration node_nic_latency);
// The host for a fabric whose latencies are read: a latency of NICs that the fabric sets is that of every kind of host.
[[nodiscard]] Host with_fabric_latency(ConfigMap& fabric, Host host);

}  // namespace ringwright::network_models
