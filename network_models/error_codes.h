// The codes of mistakes in clusters and fabrics: E120 to E129.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::network_models {

[[nodiscard]] std::span<const ErrorCode> network_error_codes();

}  // namespace ringwright::network_models
