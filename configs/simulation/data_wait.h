// Steps that wait for the samples of the next one.
#pragma once

#include <optional>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Moves the ends of a run's iterations: each lasts at least until the next batch is prepared, which begins when the
// iteration does. Links and kernels are as without, only later. Empty without a data pipeline; the stall is a mean over
// the counted iterations.
[[nodiscard]] std::optional<DataFacts> wait_for_data(const Scenario& scenario, std::vector<TimePoint>& iteration_end);

}  // namespace ringwright::configs
