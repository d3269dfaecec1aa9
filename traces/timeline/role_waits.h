// What the first rank of each role waits for while it computes nothing.
#pragma once

#include <vector>

#include "core/report/critical_path.h"
#include "traces/timeline/step_dependencies.h"

namespace ringwright::traces {

// Times without a kernel, those for the same thing together; those with the longest single wait first.
[[nodiscard]] std::vector<CriticalPath::Wait> waits_of_roles(const StepDependencies& step);

}  // namespace ringwright::traces
