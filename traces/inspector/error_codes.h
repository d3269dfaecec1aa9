// The codes of mistakes in communication logs.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> inspector_error_codes();

}  // namespace ringwright::traces
