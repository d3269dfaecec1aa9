// The codes of mistakes in ASTRA-sim's configuration files, and in jobs that its rules cannot carry out.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> astra_error_codes();

}  // namespace ringwright::traces
