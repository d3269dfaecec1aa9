// The codes of what can be wrong with files that somebody measured or recorded.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> trace_error_codes();

}  // namespace ringwright::traces
