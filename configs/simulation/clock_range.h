// What to say of a run that ends later than the simulated clock can tell (`kClockEnd`, 106 days).
#pragma once

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/run/step/executor.h"

namespace ringwright::configs {

// E148: with simulate.steps to blame where some training steps end in time; how many of them then could be asked for.
[[nodiscard]] Diagnostics ends_too_late(const SimulateSettings& simulate, const RunResult& run);

}  // namespace ringwright::configs
