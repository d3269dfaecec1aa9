// Who waits for whom in an execution plan: signals and their waits, packets and their readers, barriers, semaphores.
#pragma once

#include <optional>
#include <string>

#include "collectives/msccl/execution_plan.h"

namespace ringwright::collectives {

struct PlanProblem {
  std::string what;
  int line = 0;
};

// Fills the plan's messages and the dependencies of its operations. Empty: everything is linked.
[[nodiscard]] std::optional<PlanProblem> link(ExecutionPlan& plan);

}  // namespace ringwright::collectives
