// Steps in which workers that train on their own exchange parameters, among steps in which they do not.
#pragma once

#include <vector>

#include "configs/scenario/scenario.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Moves the ends of iterations without an exchange: of H / F steps one has an exchange, for H steps between two of a
// parameter and F fragments, so that each takes (with - without) F / H longer in the mean. Call after wait_for_data():
// late data hide an exchange that takes less.
[[nodiscard]] OuterFacts add_outer_steps(const Scenario& scenario, Duration with,
                                         std::vector<TimePoint>& iteration_end);

}  // namespace ringwright::configs
