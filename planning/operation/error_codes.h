// Error codes of goodput files.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::planning {

[[nodiscard]] std::span<const ErrorCode> operation_error_codes();

}  // namespace ringwright::planning
