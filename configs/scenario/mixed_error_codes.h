// The codes of mistakes in clusters of several kinds of hosts.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::configs {

[[nodiscard]] std::span<const ErrorCode> mixed_error_codes();

}  // namespace ringwright::configs
