// Plays a plan task by task, and records when each task of each class of ranks begins and ends.
#pragma once

#include "configs/simulation/simulate.h"

namespace ringwright::configs {

// Nothing is fast-forwarded.
[[nodiscard]] PlayedPlan play_with_spans(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
