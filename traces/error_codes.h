// The codes of mistakes in measured and recorded files.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> trace_error_codes();

}  // namespace ringwright::traces
