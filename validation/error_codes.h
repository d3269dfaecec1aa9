// The codes of mistakes in files of measurements, for `ringwright explain`.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::validation {

[[nodiscard]] std::span<const ErrorCode> validation_error_codes();

}  // namespace ringwright::validation
