// The table of mistakes in logs of cluster jobs.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> job_log_error_codes();

}  // namespace ringwright::traces
