// The detection of equal cycles in a program.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::workload {

// The longest run of equal cycles, given the tasks that cycles may begin with (and the one behind the last cycle).
// Labels may differ. Empty if a later task depends on any but the last cycle.
[[nodiscard]] Loop find_loop(const Program& program, const std::vector<std::uint32_t>& cycles);

}  // namespace ringwright::workload
