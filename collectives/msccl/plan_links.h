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

// Fills the plan's messages and what its operations wait for. Empty: all could be linked.
[[nodiscard]] std::optional<PlanProblem> link(ExecutionPlan& plan);

}  // namespace ringwright::collectives
