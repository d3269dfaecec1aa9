// Measured against simulated kernels of operators, as text and JSON.
#pragma once

#include <string>

#include "validation/kineto/operator_replay.h"

namespace ringwright::validation {

// Matrix multiplications by shape, other kernels by family and by operator; empty where nothing was compared.
[[nodiscard]] std::string operators_text(const OperatorReplay& replay);
// Rows of two JSON lists, without their brackets.
[[nodiscard]] std::string gemm_rows_json(const OperatorReplay& replay);
[[nodiscard]] std::string operator_rows_json(const OperatorReplay& replay);

}  // namespace ringwright::validation
