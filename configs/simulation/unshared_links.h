// Links on which groups of a dimension meet, and which formulas of collectives do not share between them.
#pragma once

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Adds a warning (W563) for each dimension of `facts.collectives` with such links. Nothing where collectives are not
// simulated as formulas.
void note_unshared_links(const Scenario& scenario, const Simulation& simulation, StepFacts& facts);

}  // namespace ringwright::configs
