// Times of faults that are stated in steps: found by a run without these faults.
#pragma once

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

// Simulates the scenario without its faults `at_step`, and gives them the times that follow. Without any it does
// nothing. A scenario with some left is refused (E642).
[[nodiscard]] Diagnostics settle_fault_times(Scenario& scenario);
[[nodiscard]] Diagnostics unsettled_faults(const Faults& faults);

}  // namespace ringwright::configs
