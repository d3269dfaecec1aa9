// Reads the settings of a Clos network from `cluster.fabric`: shared by fat tree, rail-optimised and rail-only.
#pragma once

#include <cstdint>
#include <memory>

#include "core/config/config_map.h"
#include "network_models/builtin.h"
#include "network_models/topologies/clos/clos_shape.h"

namespace ringwright::network_models {

enum class ClosKind : std::uint8_t { kFatTree, kRailOptimized, kRailOnly };

[[nodiscard]] ClosOrder read_clos_order(ConfigMap& fabric, const TopologyRequest& request, ClosKind kind);

// Reads, derives the counts, records mistakes; ready to build when nothing was recorded.
[[nodiscard]] std::unique_ptr<Topology> read_clos(ConfigMap& fabric, const TopologyRequest& request, ClosKind kind);

}  // namespace ringwright::network_models
