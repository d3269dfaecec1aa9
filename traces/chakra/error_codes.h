// The codes of mistakes in Chakra execution traces.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> chakra_error_codes();

}  // namespace ringwright::traces
