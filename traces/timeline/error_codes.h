// The codes of mistakes in the request of a timeline.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> timeline_error_codes();

}  // namespace ringwright::traces
