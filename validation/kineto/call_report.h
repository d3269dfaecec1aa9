// Recorded against simulated collectives as text and JSON, the latter with the kernels of operators.
#pragma once

#include <optional>
#include <string>

#include "validation/kineto/call_replay.h"
#include "validation/kineto/operator_replay.h"

namespace ringwright::validation {

[[nodiscard]] std::string calls_text(const CallReplay& replay, CallsBy by);
// Empty where nothing was compared.
[[nodiscard]] std::string bands_text(const CallReplay& replay);
[[nodiscard]] std::string calls_json(const CallReplay& replay, const OperatorReplay& operators);
// No band's geometric mean of the absolute error is above the threshold. Without one, all is well.
[[nodiscard]] bool within(const CallReplay& replay, std::optional<double> threshold);
// One warning for each reason why calls are not compared.
[[nodiscard]] Diagnostics why_left_out(const CallReplay& replay, const std::string& file);

}  // namespace ringwright::validation
