// A network of GPUs that ASTRA-sim's dimensions describe: its links and the paths over them.
#pragma once

#include <cstdint>

#include "network_models/builtin.h"
#include "network_models/topologies/dimensions/astra_topology.h"

namespace ringwright::network_models {

// Of a message between ranks that differ in several dimensions: it crosses all of them, the first one first, or only
// the first, as in ASTRA-sim.
enum class CrossedDimensions : std::uint8_t { kAll, kFirst };

struct DimensionPlan {
  AstraTopology topology;
  CrossedDimensions crossed = CrossedDimensions::kAll;
  std::uint32_t gpus_per_host = 1;  // for the names of GPUs
};

[[nodiscard]] Network build_dimensions(const DimensionPlan& plan);
[[nodiscard]] std::unique_ptr<Topology> make_dimensions(DimensionPlan plan);

}  // namespace ringwright::network_models
