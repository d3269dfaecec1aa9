// The error for a run that ends after the end of the simulated clock (`kClockEnd`, 106 days).
#pragma once

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/run/step/executor.h"

namespace ringwright::configs {

// E148: names simulate.steps where some training steps end in time, and how many of them fit.
[[nodiscard]] Diagnostics ends_too_late(const SimulateSettings& simulate, const RunResult& run);

}  // namespace ringwright::configs
