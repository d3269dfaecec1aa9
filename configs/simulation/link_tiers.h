// How busy the links of each tier of a cluster were in a run.
#pragma once

#include <vector>

#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Of every pair of kinds of nodes with a link that carried something, from the GPU outwards. `usage` is by class of
// links.
[[nodiscard]] std::vector<LinkTier> link_tiers(const Simulation& simulation, const std::vector<LinkUsage>& usage,
                                               Duration elapsed);

}  // namespace ringwright::configs
