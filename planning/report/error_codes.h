// The codes of mistakes in the files of a report, for `ringwright explain`.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::planning {

[[nodiscard]] std::span<const ErrorCode> report_error_codes();

}  // namespace ringwright::planning
