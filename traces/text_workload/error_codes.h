// The table of mistakes in text workloads.
#pragma once

#include <span>

#include "core/base/error_code.h"

namespace ringwright::traces {

[[nodiscard]] std::span<const ErrorCode> text_workload_error_codes();

}  // namespace ringwright::traces
