// A dragonfly: groups of switches, connected inside a group by local links and group to group by global links.
//
// With `spines` 0 the switches of a group are fully connected (Kim, Dally, Scott and Abts, "Technology-driven,
// highly-scalable dragonfly topology", ISCA 2008); otherwise each leaf is connected to each spine of its group and
// global links start at spines (dragonfly+: Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters",
// HiPINEB 2017).
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

enum class DragonflyPaths : std::uint8_t {
  kMinimal,   // at most one global link
  kValiant,   // over a hashed third group: two global links
  kAdaptive,  // a fraction of the bytes minimally, the rest by Valiant
};

struct DragonflyShape {
  std::uint32_t hosts = 1;  // host = position + per_switch * (leaf + leaves * group); the last group may not be full
  std::uint32_t groups = 1;
  std::uint32_t leaves = 1;        // switches of a group with hosts
  std::uint32_t spines = 0;        // of a group; 0: leaves are connected directly
  std::uint32_t per_switch = 1;    // hosts; all NICs of a host are on one switch
  std::uint32_t local_links = 1;   // parallel, between two connected switches of a group
  std::uint32_t global_links = 1;  // between two groups
  Bandwidth local_speed;
  Bandwidth global_speed;
  FabricLatency latency;
  Duration global_cable;

  [[nodiscard]] std::uint32_t switches() const { return leaves + spines; }
  // Switches of a group that global links start at.
  [[nodiscard]] std::uint32_t gateways() const { return spines > 0 ? spines : leaves; }
};

struct DragonflyRouting {
  DragonflyPaths paths = DragonflyPaths::kMinimal;
  double minimal_share = 1.0;  // kAdaptive
  Routing among;               // paths of equal length
};

struct DragonflyPlan {
  Host host;
  DragonflyShape shape;
  DragonflyRouting routing;
};

[[nodiscard]] Network build_dragonfly(const DragonflyPlan& plan);

}  // namespace ringwright::network_models
