// Error codes of studies: sweeps and their results, comparisons, sensitivities, tuning, reports.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::planning {

[[nodiscard]] std::span<const ErrorCode> planning_error_codes();

}  // namespace ringwright::planning
