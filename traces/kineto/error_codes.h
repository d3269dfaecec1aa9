// The codes of mistakes in profilers' traces.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> kineto_error_codes();

}  // namespace ringwright::traces
