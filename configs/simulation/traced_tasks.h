// The ranks and steps whose tasks a run records for its timeline.
#pragma once

#include <vector>

#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "traces/timeline/timeline.h"

namespace ringwright::configs {

// No ranks where no timeline is asked for; all steps where none are named. The request has been checked.
[[nodiscard]] traces::TraceSelection traced(const Simulation& simulation, const SimulateOptions& options);
// The classes of those ranks.
[[nodiscard]] std::vector<ClassId> recorded_classes(const Simulation& simulation, const SimulateOptions& options);
// What is wrong with the request. Called before the run, since spans of a large one fill memory.
[[nodiscard]] Diagnostics check_timeline(const Simulation& simulation, const SimulateOptions& options);

}  // namespace ringwright::configs
