// A symbolic proof of an execution plan.
#pragma once

#include <optional>

#include "collectives/msccl/plan_links.h"

namespace ringwright::collectives {

// Operations run without a clock, in two opposite orders; every unit of memory tracks whose data it holds, and the end
// state must be the collective's result. Empty: it holds.
[[nodiscard]] std::optional<PlanProblem> disprove(const ExecutionPlan& plan);

}  // namespace ringwright::collectives
