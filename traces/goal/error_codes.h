// The table of mistakes in GOAL schedules.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> goal_error_codes();

}  // namespace ringwright::traces
