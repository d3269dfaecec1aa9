// Error codes of several jobs on one machine.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::configs {

[[nodiscard]] std::span<const ErrorCode> job_error_codes();

}  // namespace ringwright::configs
