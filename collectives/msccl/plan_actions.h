// The operations of MSCCL++'s execution plans, by name.
#pragma once

#include <string_view>

#include "collectives/msccl/execution_plan.h"

namespace ringwright::collectives {

// Null: no simulated operation has this name.
[[nodiscard]] const PlanAction* find_plan_action(std::string_view name);
[[nodiscard]] std::string_view why_no_plan_action(std::string_view name);

}  // namespace ringwright::collectives
