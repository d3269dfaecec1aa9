// Finds where a program goes round in equal laps.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::workload {

// The longest run of equal laps, given the tasks that laps may begin with (and the one behind the last lap). Labels may
// differ. None where a task behind it depends on any but its last lap.
[[nodiscard]] Loop find_loop(const Program& program, const std::vector<std::uint32_t>& cycles);

}  // namespace ringwright::workload
