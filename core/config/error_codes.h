// The codes of mistakes that any configuration can have: E100 to E119.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright {

[[nodiscard]] std::span<const ErrorCode> config_error_codes();

}  // namespace ringwright
