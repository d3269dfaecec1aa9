// Codes of mistakes in the settings of collectives and NCCL.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::collectives {

[[nodiscard]] std::span<const ErrorCode> collective_error_codes();

}  // namespace ringwright::collectives
