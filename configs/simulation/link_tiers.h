// How busy the links of each tier of a cluster were in a run.
#pragma once

#include <array>
#include <vector>

#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// The classes of LinkTier::by_use: a class holds shares from its edge up to the next. Averages over a run are small, so
// the first classes are narrow.
inline constexpr std::array<double, kUseBins + 1> kUseEdges = {0.0, 0.01, 0.02, 0.05, 0.1, 0.2,
                                                           0.3, 0.5,  0.7,  0.9,  1.0};

// Of every pair of kinds of nodes with a link that carried something, from the GPU outwards. `usage` is by class of
// links.
[[nodiscard]] std::vector<LinkTier> link_tiers(const Simulation& simulation, const std::vector<LinkUsage>& usage,
                                               Duration elapsed);

}  // namespace ringwright::configs
