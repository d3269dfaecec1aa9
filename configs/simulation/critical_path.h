// The critical path of a run's last step: whether it is recorded, and the path itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "core/record/run_record.h"
#include "core/report/critical_path.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Whether the report has the path. As with a timeline, the whole step is simulated then. Not of several jobs.
enum class PathWish : std::uint8_t { kNone, kIfSmall, kAlways };

// As what its tasks waited for fills memory, only up to a size: above it, E268 for kAlways, W269 for kIfSmall.
[[nodiscard]] bool records_path(const Simulation& simulation, PathWish wish);
[[nodiscard]] Diagnostics check_path(const Simulation& simulation, PathWish wish);
void note_no_path(const Simulation& simulation, PathWish wish, StepFacts& facts);

// None where nothing was recorded.
[[nodiscard]] std::optional<CriticalPath> recorded_path(const Simulation& simulation, const RunRecord& record);
// The step ends later than the path when its samples were late.
void add_data_wait(const std::vector<TimePoint>& iteration_end, CriticalPath& path);

}  // namespace ringwright::configs
